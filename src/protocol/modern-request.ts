import type { ClientCapabilities } from './capabilities.ts';
import { MODERN_VERSION_KEY, MODERN_VERSIONS } from './era.ts';
import { GATEWAY_NAME, GATEWAY_VERSION } from './gateway-info.ts';
import { CAPABILITIES_KEY, LOG_LEVEL_KEY } from './modern.ts';

/** What a link writes to an upstream of the modern era (MCP 2026-07-28, Per-Request Metadata). All values are JSON texts. */

const CLIENT_INFO_KEY = 'io.modelcontextprotocol/clientInfo';
const OWN = [
  member(MODERN_VERSION_KEY, MODERN_VERSIONS[0]),
  member(CLIENT_INFO_KEY, { name: GATEWAY_NAME, version: GATEWAY_VERSION }),
].join(',');

/** The members of `params._meta` that every request carries; never none. */
export function envelopeMembers(declared: ClientCapabilities, logLevel: string | undefined): string {
  const members = `${OWN},${member(CAPABILITIES_KEY, declared)}`;
  return logLevel === undefined ? members : `${members},${member(LOG_LEVEL_KEY, logLevel)}`;
}

/** The `params` of a request of the gateway's own, under an envelope; `params` is the text of an object without `_meta`. */
export function envelopedParams(params: string | undefined, envelope: string): string {
  const meta = `"_meta":{${envelope}}`;
  return params === undefined || params === '{}' ? `{${meta}}` : `{${meta},${params.slice(1)}`;
}

/** The members of `params` that bring a server what it asked for with `input_required`. */
export function inputMembers(responses: string | undefined, state: string | undefined): string[] {
  return [
    ...(responses === undefined ? [] : [`"inputResponses":${responses}`]),
    ...(state === undefined ? [] : [member('requestState', state)]),
  ];
}

function member(key: string, value: unknown): string {
  return `${JSON.stringify(key)}:${JSON.stringify(value)}`;
}
