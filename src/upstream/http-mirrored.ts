import type { OutgoingHttpHeaders } from 'node:http';
import type { About } from '../ports/transport.ts';

/** Visible ASCII with spaces and tabs inside (RFC 9110 section 5.5). */
const PLAIN = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/;
const ENCODED = /^=\?base64\?.*\?=$/s;

/** The headers that say again what the body says, for those on the way who do not read it (MCP 2026-07-28, Standard Request Headers and Custom Headers from Tool Parameters). */
export function mirroredHeaders(about: About | undefined): OutgoingHttpHeaders {
  if (about === undefined) return {};
  const { name, params = [] } = about;
  const headers: OutgoingHttpHeaders = { 'mcp-method': headerText(about.method) };
  if (name !== undefined) headers['mcp-name'] = headerText(name);
  for (const [param, value] of params) headers[`mcp-param-${param}`] = headerText(value);
  return headers;
}

/**
 * Any text as a header value: as it is where it can stand there, otherwise its UTF-8 in base64 between `=?base64?` and
 * `?=` (MCP 2026-07-28, Value Encoding). So is a text that looks encoded already.
 */
export function headerText(value: string): string {
  if (PLAIN.test(value) && !ENCODED.test(value)) return value;
  return `=?base64?${Buffer.from(value, 'utf8').toString('base64')}?=`;
}
