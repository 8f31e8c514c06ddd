/** What the shim reads of a message to know where it goes; the text itself passes untouched. */
export interface Frame {
  readonly text: string;
  readonly message: Readonly<Record<string, unknown>>;
  readonly kind: 'request' | 'notification' | 'response';
  readonly method: string | undefined;
  /** The id as JSON text, so that `1` and `"1"` differ. */
  readonly id: string | undefined;
  /** `params.progressToken` of a notification, `params._meta.progressToken` of a request; as JSON text. */
  readonly token: string | undefined;
}

/** An id as JSON text. */
export function keyOf(value: unknown): string | undefined {
  return value === undefined ? undefined : JSON.stringify(value);
}

/** Reads one message; undefined for what is not a JSON object. */
export function readFrame(text: string): Frame | undefined {
  const message = parsed(text);
  if (!isRecord(message)) return undefined;
  const { method, id, params } = message;
  const kind = typeof method !== 'string' ? 'response' : id === undefined ? 'notification' : 'request';
  const inner = isRecord(params) ? params : {};
  const holder = kind === 'notification' ? inner : inner._meta;
  return {
    text,
    message,
    kind,
    method: typeof method === 'string' ? method : undefined,
    id: keyOf(id),
    token: isRecord(holder) ? keyOf(holder.progressToken) : undefined,
  };
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
