/** What a sealed text is for. A text sealed for one purpose opens for no other. */
export type SealPurpose = 'parked' | 'upstream-state' | 'again' | 'ticket';

/** Makes texts that only this gateway, or replicas that hold the same keys, can make and read, and that nobody can change. */
export interface Seal {
  /** `bound` is what the text is bound to and does not hold; `expiresAt` is epoch milliseconds. The result is URL-safe. Throws a RangeError where it would be over 256 KiB, which `open` refuses unread. */
  seal(purpose: SealPurpose, content: string, bound: string, expiresAt: number): string;
  /** Undefined alike for what is tampered with, expired, sealed for another purpose, bound to anything else, or by other keys. */
  open(purpose: SealPurpose, sealed: string, bound: string): Opened | undefined;
}

export interface Opened {
  readonly content: string;
  /** Names this one sealing: two texts never share it. */
  readonly nonce: string;
  readonly expiresAt: number;
}
