/**
 * Where messages go, as the server's `endpoint` event says it (MCP 2024-11-05, transports, HTTP with SSE): a URL relative
 * to the stream's. Only one of the stream's own origin and without credentials is taken: the configured headers go there.
 */
export function messageEndpoint(said: string, stream: string): string | undefined {
  if (!URL.canParse(said, stream)) return undefined;
  const endpoint = new URL(said, stream);
  const isSafe = endpoint.origin === new URL(stream).origin && endpoint.username === '' && endpoint.password === '';
  return isSafe ? endpoint.href : undefined;
}
