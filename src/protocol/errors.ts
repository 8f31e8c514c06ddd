/** JSON-RPC error codes the gateway itself sends (JSON-RPC 2.0 section 5.1; MCP 2025-11-25 for -32002). */
export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;
export const RESOURCE_NOT_FOUND = -32002;

/** The gateway's own faults: one closed table. Every one is -32603 with `data: { reason, retryable, retryAfterMs? }`. */
export const FAULTS = {
  upstream_unavailable: { message: 'The upstream cannot be reached', retryable: true },
  upstream_closed: { message: 'The upstream went away during the call', retryable: true },
  at_capacity: { message: 'The gateway is at capacity', retryable: true },
  timeout: { message: 'The upstream did not answer in time', retryable: false },
  too_large: { message: 'The answer of the upstream is too large or malformed', retryable: false },
  rate_limited: { message: 'Too many requests', retryable: true },
  too_many_in_flight: { message: 'Too many requests in flight on this connection', retryable: true },
  draining: { message: 'The gateway is shutting down', retryable: true },
  state_gone: { message: 'The request state is no longer valid', retryable: false },
  internal: { message: 'Internal error', retryable: false },
} as const;

export type FaultReason = keyof typeof FAULTS;

/** Answered with id null: what was sent is no request, or its id must not be used (JSON-RPC 2.0 section 5). */
export const UNREADABLE = {
  not_json: { code: PARSE_ERROR, message: 'Parse error' },
  not_a_message: { code: INVALID_REQUEST, message: 'Invalid Request' },
  ambiguous: { code: INVALID_REQUEST, message: 'Invalid Request: a key is repeated or ambiguous' },
  too_deep: { code: INVALID_REQUEST, message: 'Invalid Request: nested too deeply' },
  id_in_flight: { code: INVALID_REQUEST, message: 'Invalid Request: the id is in flight' },
} as const;

/** A failure with a row in the table; `cause` is for the log and never reaches a peer. */
export class Fault extends Error {
  readonly reason: FaultReason;
  readonly retryAfterMs: number | undefined;

  constructor(reason: FaultReason, options: { cause?: unknown; retryAfterMs?: number } = {}) {
    super(FAULTS[reason].message, { cause: options.cause });
    this.name = 'Fault';
    this.reason = reason;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** What a peer is told: a JSON-RPC error object. */
export interface WireError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** What was thrown, as a row of the table. */
export function asFault(cause: unknown): Fault {
  return cause instanceof Fault ? cause : new Fault('internal', { cause });
}

/** A decoded JSON-RPC error object as far as it is one. */
export function wireErrorOf(value: unknown): WireError {
  const error = typeof value === 'object' && value !== null ? value : {};
  const code = 'code' in error && typeof error.code === 'number' ? error.code : 0;
  const message = 'message' in error && typeof error.message === 'string' ? error.message : '';
  return { code, message, ...('data' in error && { data: error.data }) };
}

export function faultError(fault: Fault): WireError {
  const row = FAULTS[fault.reason];
  const data = { reason: fault.reason, retryable: row.retryable };
  const hint = fault.retryAfterMs === undefined ? {} : { retryAfterMs: Math.ceil(fault.retryAfterMs) };
  return { code: INTERNAL_ERROR, message: row.message, data: { ...data, ...hint } };
}

/** An upstream answered a request of the gateway's own with a JSON-RPC error. */
export class AnsweredError extends Error {
  /** What it wrote, which may repeat what it was sent or given: no member of its own, for a log tells those. */
  readonly #error: WireError;

  constructor(error: WireError) {
    super(`answered with error ${error.code}`);
    this.name = 'AnsweredError';
    this.#error = error;
  }

  get error(): WireError {
    return this.#error;
  }
}
