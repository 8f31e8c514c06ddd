/** A `tools/call` as a client sends it. */
export function toolCall(id: string | number, name: string, given: object = {}, meta?: object) {
  const params = { name, arguments: given, ...(meta === undefined ? {} : { _meta: meta }) };
  return { jsonrpc: '2.0', id, method: 'tools/call', params };
}

/** The answer to it that holds one text. */
export function textAnswer(id: string | number, text: string) {
  return { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text }] } };
}

/** An error answer. */
export function errorAnswer(id: string | number | null, code: number, message: string, data?: object) {
  return { jsonrpc: '2.0', id, error: { code, message, ...(data === undefined ? {} : { data }) } };
}

export function cancellation(requestId: string | number, reason?: string) {
  return { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId, reason } };
}
