import type { IncomingHttpHeaders } from 'node:http';
import { isRecord } from './frame.ts';

type Message = Readonly<Record<string, unknown>>;

/** What `_meta` must carry in every modern request (MCP 2026-07-28, basic). */
const VERSION = 'io.modelcontextprotocol/protocolVersion';
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';

/** Key of `_meta` under which a notification names the listen it belongs to. */
export const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';

/** Whether a message claims a revision by itself. */
export function claimsRevision(message: Message): boolean {
  return metaOf(message)[VERSION] !== undefined;
}

/**
 * The first standard header that contradicts the message or is missing (MCP 2026-07-28, transports, Streamable HTTP,
 * request headers); a version the message does not carry is left to the gateway.
 */
export function mismatch(headers: IncomingHttpHeaders, message: Message): string | undefined {
  const version = metaOf(message)[VERSION];
  if (version !== undefined && headers['mcp-protocol-version'] !== version) return 'MCP-Protocol-Version';
  if (headers['mcp-method'] !== message.method) return 'Mcp-Method';
  const name = nameOf(message);
  return name !== undefined && headers['mcp-name'] !== name ? 'Mcp-Name' : undefined;
}

/** The HTTP status of a JSON-RPC response that is not a stream (the same page, error handling). */
export function statusOf(answer: Message, request: Message): number {
  const code = isRecord(answer.error) ? answer.error.code : undefined;
  if (code === -32601) return 404;
  if (code === -32020 || code === -32021 || code === -32022) return 400;
  const meta = metaOf(request);
  const complete = meta[VERSION] !== undefined && meta[CAPABILITIES] !== undefined;
  return code === -32602 && !complete ? 400 : 200;
}

export function metaOf({ params }: Message): Record<string, unknown> {
  return isRecord(params) && isRecord(params._meta) ? params._meta : {};
}

function nameOf({ method, params }: Message): unknown {
  if (!isRecord(params)) return undefined;
  if (method === 'tools/call' || method === 'prompts/get') return params.name;
  return method === 'resources/read' ? params.uri : undefined;
}
