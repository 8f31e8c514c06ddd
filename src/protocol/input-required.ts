import { field, type Id, type Request, type Response, stringField } from './envelope.ts';
import { JsonText, type ObjectNode, repeatsKey } from './json-text.ts';
import { OWN_META } from './modern.ts';
import { type Need, needOf } from './need.ts';

/**
 * What a server asks of the client before it can answer, and how the client brings it (MCP 2026-07-28, Multi Round-Trip
 * Requests): a result of type `input_required` holds `inputRequests` by key and a `requestState`; the same request, sent
 * again, holds `inputResponses` under those keys and that state.
 */

/** One question; `params` is the JSON text of an object. */
export interface InputRequest {
  readonly method: string;
  readonly params: string;
}

/** By key, in the order they stand in. */
export type InputRequests = ReadonlyMap<string, InputRequest>;

/** What a request sent again brings: JSON texts of objects by key. */
export interface Brought {
  readonly responses: ReadonlyMap<string, string>;
  readonly state: string | undefined;
}

/** Questions in one result at most. */
export const MAX_QUESTIONS = 16;
const ASKING = ['tools/call', 'prompts/get', 'resources/read'];

/** Whether a request of this method may be answered by a question. */
export function mayAskBack(method: string): boolean {
  return ASKING.includes(method);
}

export function isInputRequired({ outcome, text, payload }: Response): boolean {
  return outcome === 'result' && stringField(text, payload.inner, 'resultType') === 'input_required';
}

/** The state a server wants back with the answers. */
export function requestStateOf({ text, payload }: Response): string | undefined {
  return stringField(text, payload.inner, 'requestState');
}

/** What a server asks; undefined where it is not as the revision has it, holds a key twice, or is too much. */
export function inputRequestsOf({ text, payload }: Response): InputRequests | undefined {
  const member = field(payload.inner, 'inputRequests');
  if (member === undefined) return new Map();
  const entries = objectsIn(text, member.start);
  if (entries === undefined || entries.length > MAX_QUESTIONS || repeatsKey(text, member.start)) return undefined;
  const requests = new Map<string, InputRequest>();
  for (const { key, node } of entries) {
    const method = stringField(text, node, 'method');
    const params = field(node, 'params');
    const spelled = params === undefined ? '{}' : text.slice(params.start, params.end);
    if (method === undefined || !spelled.startsWith('{')) return undefined;
    requests.set(key, { method, params: spelled });
  }
  return requests;
}

/** What a request brings of an earlier round; a sentence where that is not as the revision has it. */
export function broughtBy({ text, params }: Request): Brought | { readonly problem: string } {
  const state = field(params, 'requestState');
  const held = stringField(text, params, 'requestState');
  if (state !== undefined && held === undefined) return { problem: '"requestState" must be a string' };
  const member = field(params, 'inputResponses');
  const entries = member === undefined ? [] : objectsIn(text, member.start);
  const responses = new Map(entries?.map(({ key, node }) => [key, text.slice(node.start, node.end)]));
  if (entries === undefined || responses.size !== entries.length)
    return { problem: '"inputResponses" must be an object of objects' };
  return { responses, state: held };
}

/** What a client must have declared to be asked this. */
export function needOfInput({ method, params }: InputRequest): Need | undefined {
  const json = new JsonText(params);
  return needOf({ method, text: params, params: json.object(json.skipSpace(0)) });
}

/** The result that puts these questions to a modern client. */
export function inputRequiredText(id: Id, requests: InputRequests, requestState: string): string {
  const asked = [...requests].map(([key, { method, params }]) => {
    return `${JSON.stringify(key)}:{"method":${JSON.stringify(method)},"params":${params}}`;
  });
  const result = `{"resultType":"input_required","inputRequests":{${asked.join(',')}},"requestState":${JSON.stringify(requestState)},"_meta":${OWN_META}}`;
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;
}

/** The members of the object at `at`, each of them an object; undefined where it or one of them is anything else. */
function objectsIn(text: string, at: number): { readonly key: string; readonly node: ObjectNode }[] | undefined {
  if (text.charCodeAt(at) !== OPEN_BRACE) return undefined;
  const json = new JsonText(text);
  const { members } = json.object(at);
  if (!members.every(({ start }) => text.charCodeAt(start) === OPEN_BRACE)) return undefined;
  return members.map(({ key, start }) => ({ key, node: json.object(start) }));
}

const OPEN_BRACE = 0x7b;
