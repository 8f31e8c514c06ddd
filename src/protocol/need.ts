import { fold } from './ambiguity.ts';
import type { ClientCapabilities } from './capabilities.ts';
import { field, type Request, stringField } from './envelope.ts';
import { INVALID_PARAMS, METHOD_NOT_FOUND, type WireError } from './errors.ts';

/** What a client must have declared to be asked something (MCP 2025-11-25 and 2026-07-28, `ClientCapabilities`). */
export interface Need {
  readonly capability: 'elicitation' | 'sampling' | 'roots';
  /** A member the capability must have; `form` is also met by an elicitation capability that names no mode. */
  readonly mode: 'form' | 'url' | 'tools' | undefined;
}

/** What is read of a question; a key that is one of these but for its case makes it unclear what is asked. */
const READ = new Set(['mode', 'tools', 'toolChoice']);
const FOLDED = new Set([...READ].map(fold));

/** Undefined for a request that no client answers, or that different readers could take for different ones. */
export function needOf({ method, text, params }: Pick<Request, 'method' | 'text' | 'params'>): Need | undefined {
  if (params?.members.some(({ key }) => !READ.has(key) && FOLDED.has(fold(key))) === true) return undefined;
  if (method === 'roots/list') return { capability: 'roots', mode: undefined };
  if (method === 'sampling/createMessage') {
    const wantsTools = field(params, 'tools') !== undefined || field(params, 'toolChoice') !== undefined;
    return { capability: 'sampling', mode: wantsTools ? 'tools' : undefined };
  }
  if (method !== 'elicitation/create') return undefined;
  return { capability: 'elicitation', mode: stringField(text, params, 'mode') === 'url' ? 'url' : 'form' };
}

export function isMet({ capability, mode }: Need, declared: ClientCapabilities): boolean {
  const found = declared[capability];
  if (found === undefined) return false;
  if (mode === 'form') return 'form' in found || !('url' in found);
  return mode === undefined || mode in found;
}

/** True where a client declares that it can be asked anything at all. */
export function canBeAsked({ elicitation, sampling, roots }: ClientCapabilities): boolean {
  return elicitation !== undefined || sampling !== undefined || roots !== undefined;
}

/** Why a handshake upstream's question does not reach the client; undefined where it does. */
export function questionRefusal(request: Request, declared: ClientCapabilities): WireError | undefined {
  const need = needOf(request);
  if (need === undefined || declared[need.capability] === undefined) return NOT_FOUND;
  return isMet(need, declared) ? undefined : UNDECLARED;
}

/** What a modern client is told whose request needs what it did not declare (MCP 2026-07-28, -32021). */
export function missingCapability({ capability, mode }: Need): WireError {
  const requiredCapabilities = { [capability]: mode === undefined ? {} : { [mode]: {} } };
  return { code: MISSING_CAPABILITY, message: MISSING_MESSAGE, data: { requiredCapabilities } };
}

export const MISSING_CAPABILITY = -32021;
const MISSING_MESSAGE = 'The request needs a client capability that was not declared';
const NOT_FOUND: WireError = { code: METHOD_NOT_FOUND, message: 'Method not found' };
const UNDECLARED: WireError = { code: INVALID_PARAMS, message: 'The client did not declare this mode' };
