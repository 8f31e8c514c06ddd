/** One JSON-RPC 2.0 message, wide enough for the message types of both SDKs to be assigned to it. */
export interface JsonRpcMessage {
  jsonrpc: '2.0';
  id?: string | number | null | undefined;
  method?: string | undefined;
  params?: object | undefined;
  result?: unknown;
  error?: unknown;
}

/**
 * The messages of one frame: one, or the members of a batch (MCP 2025-03-26; a client must be able to read one).
 * Undefined when the frame is not JSON-RPC; nothing of such a frame is delivered.
 */
export function readFrame(text: string): readonly JsonRpcMessage[] | undefined {
  const value = parsed(text);
  const messages: unknown[] = Array.isArray(value) ? value : [value];
  return messages.length > 0 && messages.every(isMessage) ? messages : undefined;
}

function isMessage(value: unknown): value is JsonRpcMessage {
  if (typeof value !== 'object' || value === null || !('jsonrpc' in value) || value.jsonrpc !== '2.0') return false;
  if ('method' in value) return typeof value.method === 'string';
  return 'result' in value || 'error' in value;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
