/** The server answered the upgrade with an HTTP status instead of 101. */
export class UpgradeRefusedError extends Error {
  override readonly name = 'UpgradeRefusedError';
  readonly status: number;
  /** `WWW-Authenticate` as it came: with 401 it says where a token is to be had (RFC 9728 section 5.1). */
  readonly challenge: string | undefined;
  /** How long the server asks to wait before the next attempt (`Retry-After` in seconds, RFC 9110 section 10.2.3). */
  readonly retryAfterMs: number | undefined;

  constructor(status: number, challenge: string | undefined, retryAfter: string | undefined) {
    super(`the upgrade was refused: HTTP ${status}`);
    this.status = status;
    this.challenge = challenge;
    this.retryAfterMs =
      retryAfter !== undefined && /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) * 1000 : undefined;
  }
}
