/** What this upstream says of `echo`, to the byte. */
export const EXACT_RESULT = '{"content":[],"structuredContent":{"n":9223372036854775807},"vendor":0.1000}';

/**
 * The answer of a hand-written upstream to one message, as text; undefined where there is none. Its tools are `echo`, which
 * answers `EXACT_RESULT`, `long`, whose answer has 70 kB, and `never`.
 */
export function exactAnswer(text: string): string | undefined {
  const { id, method, params } = JSON.parse(text);
  if (id === undefined || method === undefined) return undefined;
  if (method === 'server/discover') {
    return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"error":{"code":-32601,"message":"Method not found"}}`;
  }
  const result = resultOf(method, params?.name);
  return result === undefined ? undefined : `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;
}

function resultOf(method: string, name: string): string | undefined {
  if (method === 'initialize') {
    return '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"exact","version":"1"}}';
  }
  if (method === 'tools/list') {
    const tools = ['echo', 'long', 'never'].map((tool) => ({ name: tool, inputSchema: { type: 'object' } }));
    return JSON.stringify({ tools });
  }
  if (name === 'echo') return EXACT_RESULT;
  return name === 'long' ? JSON.stringify({ content: [{ type: 'text', text: 'x'.repeat(70_000) }] }) : undefined;
}
