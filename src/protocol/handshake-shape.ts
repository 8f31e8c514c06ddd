import { answeredError } from './answered-error.ts';
import { errorText, resultText } from './compose.ts';
import { field, type Id, numberField, type Response, stringField } from './envelope.ts';
import { INVALID_PARAMS, RESOURCE_NOT_FOUND } from './errors.ts';
import { JsonText } from './json-text.ts';
import { withoutMember } from './members.ts';
import { MISSING_CAPABILITY } from './need.ts';
import { rewriteResponse } from './rewrite.ts';

/**
 * An answer of a modern upstream as a handshake client reads it, under the client's id: the code of a missing resource is
 * that era's, and a `structuredContent` only the modern era allows is left out. All else is as it came.
 */
export function handshakeAnswer(response: Response, method: string, id: Id): string {
  if (response.outcome === 'error') return handshakeError(response, method, id);
  const { text, payload } = response;
  const structured = field(payload.inner, 'structuredContent');
  if (method !== 'tools/call' || structured === undefined || text.charCodeAt(structured.start) === OPEN_BRACE)
    return rewriteResponse(response, id);
  return resultText(id, withoutMember(text.slice(payload.start, payload.end), 'structuredContent'));
}

/** A tool's definition with an `outputSchema` only the modern era allows left out; the text itself where there is none. */
export function handshakeDefinition(text: string): string {
  const json = new JsonText(text);
  const schema = json.object(0).members.find(({ key }) => key === 'outputSchema');
  if (schema === undefined) return text;
  const isObject = text.charCodeAt(schema.start) === OPEN_BRACE;
  const type = isObject ? stringField(text, json.object(schema.start), 'type') : undefined;
  return type === 'object' ? text : withoutMember(text, 'outputSchema');
}

function handshakeError(response: Response, method: string, id: Id): string {
  const { text, payload } = response;
  const code = numberField(text, payload.inner, 'code');
  if (code === INVALID_PARAMS && method === 'resources/read') return rewriteResponse(response, id, RESOURCE_NOT_FOUND);
  if (code !== MISSING_CAPABILITY) return rewriteResponse(response, id);
  const { message } = answeredError(response);
  return errorText(id, { code: INVALID_PARAMS, message });
}

const OPEN_BRACE = 0x7b;
