import { field, type Id, type Request, type Response, stringField } from './envelope.ts';
import { MODERN_VERSION_KEY, MODERN_VERSIONS } from './era.ts';
import { INVALID_PARAMS, RESOURCE_NOT_FOUND, type WireError } from './errors.ts';
import { GATEWAY_NAME, GATEWAY_VERSION } from './gateway-info.ts';
import { isModest } from './modest.ts';
import { rewriteResponse } from './rewrite.ts';

export const HEADER_MISMATCH = -32020;
export const UNSUPPORTED_VERSION = -32022;
export const LOG_LEVEL_KEY = 'io.modelcontextprotocol/logLevel';
export const CAPABILITIES_KEY = 'io.modelcontextprotocol/clientCapabilities';
const SERVER_INFO_KEY = 'io.modelcontextprotocol/serverInfo';
export const OWN_META = JSON.stringify({ [SERVER_INFO_KEY]: { name: GATEWAY_NAME, version: GATEWAY_VERSION } });

/** Results that must say how long they hold (MCP 2026-07-28, Caching). */
const CACHEABLE = new Set([
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
]);

/** What is wrong with a request's envelope. Judged on every request, whatever came before on its socket. */
export function envelopeProblem({ text, meta }: Request): WireError | undefined {
  const version = stringField(text, meta, MODERN_VERSION_KEY);
  if (version === undefined) return missing(MODERN_VERSION_KEY);
  if (!MODERN_VERSIONS.some((supported) => supported === version)) return unsupportedVersion(version);
  const capabilities = field(meta, CAPABILITIES_KEY);
  if (capabilities === undefined || text.charCodeAt(capabilities.start) !== 0x7b) return missing(CAPABILITIES_KEY);
  return isModest(text, capabilities) ? undefined : IMMODEST;
}

/** Also the answer to `initialize` on a socket that has spoken this era. */
export function unsupportedVersion(requested: string): WireError {
  const data = { supported: MODERN_VERSIONS, requested };
  return { code: UNSUPPORTED_VERSION, message: 'Unsupported protocol version', data };
}

/** A result of the gateway's own as a modern client reads it; `result` is the JSON text of an object without these members. */
export function modernResult(method: string, result: string): string {
  const own = [...fieldsOf(method), ['_meta', OWN_META]].map(([key, value]) => `"${key}":${value}`).join(',');
  return result === '{}' ? `{${own}}` : `{${own},${result.slice(1)}`;
}

/**
 * An answer of a handshake upstream as a modern client reads it, under the client's id: the members this era requires are
 * put first where the upstream did not write them; the code of a missing resource is this era's. All else is as it came.
 */
export function modernAnswer(response: Response, method: string, id: Id): string {
  const { text, payload } = response;
  if (response.outcome === 'error') return rewriteResponse(response, id, translatedCode(response));
  const added = fieldsOf(method).filter(([key]) => field(payload.inner, key) === undefined);
  if (added.length === 0) return rewriteResponse(response, id);
  const own = added.map(([key, value]) => `"${key}":${value}`).join(',');
  const result = text.slice(payload.start + 1, payload.end);
  const comma = payload.inner?.members.length === 0 ? '' : ',';
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{${own}${comma}${result}}`;
}

/** An upstream refused a request, which it has not begun, for the headers beside it (MCP 2026-07-28, Server Validation). */
export class HeaderMismatch extends Error {
  constructor() {
    super(`the upstream answered ${HEADER_MISMATCH}`);
    this.name = 'HeaderMismatch';
  }
}

/** An error of the gateway's own as a modern client reads it. */
export function modernError(error: WireError): WireError {
  return error.code === RESOURCE_NOT_FOUND ? { ...error, code: INVALID_PARAMS } : error;
}

function translatedCode(response: Response): number | undefined {
  const code = response.outcome === 'error' ? field(response.payload.inner, 'code') : undefined;
  const spelled = code === undefined ? '' : response.text.slice(code.start, code.end);
  return spelled === String(RESOURCE_NOT_FOUND) ? INVALID_PARAMS : undefined;
}

/** Key and JSON text of a member. */
type Field = readonly [key: string, value: string];
const COMPLETE: readonly Field[] = [['resultType', '"complete"']];
const CACHED: readonly Field[] = [...COMPLETE, ['ttlMs', '0'], ['cacheScope', '"private"']];

function fieldsOf(method: string): readonly Field[] {
  return CACHEABLE.has(method) ? CACHED : COMPLETE;
}

/** Also the answer to an `initialize` that declares so much. */
export const IMMODEST: WireError = {
  code: INVALID_PARAMS,
  message: 'Invalid params: the capabilities are too large or nested too deeply',
};

function missing(key: string): WireError {
  return { code: INVALID_PARAMS, message: `Invalid params: _meta must hold ${key}` };
}
