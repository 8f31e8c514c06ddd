/** True when every required scope is held. Compared exactly (RFC 6749 section 3.3: case-sensitive). */
export function holdsScopes(held: readonly string[], required: readonly string[]): boolean {
  return required.every((scope) => held.includes(scope));
}
