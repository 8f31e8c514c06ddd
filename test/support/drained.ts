import { expect } from 'vitest';

/** The close of a socket whose gateway shuts down: the hint is one of the socket's own, from one second to two. */
export const DRAINED = { code: 1001, reason: expect.stringMatching(/^draining retry=(1\d{3}|2000)$/) };

/** `data` of the error a call is refused or ended with then. */
export const DRAINING_DATA = { reason: 'draining', retryable: true, retryAfterMs: expect.any(Number) };
