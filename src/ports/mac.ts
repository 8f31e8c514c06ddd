/** Proves that a text is by this gateway, or by a replica that holds the same keys. The text itself stays readable. */
export interface Mac {
  /** URL-safe. */
  sign(text: string): string;
  /** Takes the same time whatever is wrong. */
  verify(text: string, mac: string): boolean;
}
