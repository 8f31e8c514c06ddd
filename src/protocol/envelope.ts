import { ambiguous } from './ambiguity.ts';
import { decodeString, JsonText, type Member, nestsDeeper, type ObjectNode, type Shape } from './json-text.ts';

/** A JSON-RPC id or a progress token: a string of at most 1 KiB or a safe integer; it keeps value and type. */
export type Id = string | number;

interface Located {
  /** The message as it was read, raw CR and LF made spaces: it can stand on one line. */
  readonly text: string;
  readonly root: ObjectNode;
  readonly params: ObjectNode | undefined;
  readonly meta: ObjectNode | undefined;
}

export interface Request extends Located {
  readonly kind: 'request';
  readonly id: Id;
  readonly method: string;
}

export interface Notification extends Located {
  readonly kind: 'notification';
  readonly method: string;
}

export interface Response extends Located {
  readonly kind: 'response';
  /** Null when the peer could not read the id it answers (JSON-RPC 2.0 section 5). */
  readonly id: Id | null;
  readonly outcome: 'result' | 'error';
  /** Where the result or error value stands. */
  readonly payload: Member;
}

export type Message = Request | Notification | Response;

/** Why a text is no message. `id` is the one it answers, where one could be read: only the call under it fails. */
export interface Unreadable {
  readonly kind: 'unreadable';
  readonly problem: 'not_json' | 'not_a_message' | 'ambiguous' | 'too_deep';
  readonly id: Id | undefined;
}

const MAX_ID_BYTES = 1024;
/** From here on nesting is judged before JSON.parse, which takes a second for a few megabytes of brackets. */
const LARGE = 64 * 1024;
/** Members of one object that is read: to keep many more, and compare their keys, would hold up everybody else. */
const MAX_MEMBERS = 10_000;

const leaf: Shape = { within: new Map() };
const SHAPE: Shape = {
  within: new Map([
    [
      'params',
      {
        within: new Map([
          ['_meta', leaf],
          ['ref', leaf],
        ]),
      },
    ],
    ['result', { within: new Map([['_meta', leaf]]) }],
    ['error', leaf],
  ]),
};

/**
 * Judges one text: valid JSON, one JSON-RPC 2.0 message, unambiguous in every object the gateway reads, which one with
 * more than 10,000 members counts as not. `maxDepth` counts objects and arrays. JSON.parse is the judge of validity; its
 * value is dropped.
 */
export function readMessage(raw: string, maxDepth: number): Message | Unreadable {
  const problem = textProblem(raw, maxDepth);
  if (problem !== undefined) return unreadable(problem, idIfAny(raw));
  const text = /[\r\n]/.test(raw) ? raw.replace(/[\r\n]+/g, (breaks) => ' '.repeat(breaks.length)) : raw;
  const json = new JsonText(text, MAX_MEMBERS);
  const start = json.skipSpace(0);
  if (text.charCodeAt(start) !== 0x7b) return unreadable('not_a_message');
  const root = json.object(start, SHAPE);
  if (json.deepest > maxDepth) return unreadable('too_deep', idOf(text, root));
  if (json.crowded || ambiguous(root)) return unreadable('ambiguous', idOf(text, root));
  return classify(text, root) ?? unreadable('not_a_message', idOf(text, root));
}

/** Why a text is not to be read at all. One that is small may still nest deeper than `maxDepth`. */
export function textProblem(raw: string, maxDepth: number): 'too_deep' | 'not_json' | undefined {
  if (raw.length > LARGE && nestsDeeper(raw, maxDepth)) return 'too_deep';
  return isJson(raw) ? undefined : 'not_json';
}

/** The member of `node` under `key`, which stands there at most once in a judged message. */
export function field(node: ObjectNode | undefined, key: string): Member | undefined {
  if (node === undefined) return undefined;
  for (const member of node.members) if (member.key === key) return member;
  return undefined;
}

/** The decoded value of a member; for scalars and small values only. */
export function decoded(text: string, member: Member): unknown {
  return JSON.parse(text.slice(member.start, member.end));
}

/** The member's value if it is a string. */
export function stringField(text: string, node: ObjectNode | undefined, key: string): string | undefined {
  const member = field(node, key);
  if (member === undefined || text.charCodeAt(member.start) !== 0x22) return undefined;
  return decodeString(text, member.start, member.end);
}

/** The member's value if it is a number. */
export function numberField(text: string, node: ObjectNode | undefined, key: string): number | undefined {
  const member = field(node, key);
  const value = member === undefined || member.inner !== undefined ? undefined : scalar(text, member);
  return typeof value === 'number' ? value : undefined;
}

/** The member's value if it is an id or token; undefined if absent or anything else. */
export function idField(text: string, node: ObjectNode | undefined, key: string): Id | undefined {
  const member = field(node, key);
  return member === undefined ? undefined : idOfMember(text, member);
}

/** The token under which the sender of a request wants its progress (`params._meta.progressToken`). */
export function progressToken(message: Request): Id | undefined {
  return idField(message.text, message.meta, 'progressToken');
}

function classify(text: string, root: ObjectNode): Message | undefined {
  if (stringField(text, root, 'jsonrpc') !== '2.0') return undefined;
  const params = field(root, 'params');
  if (params !== undefined && params.inner === undefined) return undefined;
  const located = { text, root, params: params?.inner, meta: field(params?.inner, '_meta')?.inner };
  return field(root, 'method') === undefined ? response(located) : call(located);
}

/** Members are named one by one where messages are made: spreading `located` costs a microsecond on each. */
function call({ text, root, params, meta }: Located): Request | Notification | undefined {
  const method = stringField(text, root, 'method');
  if (method === undefined || field(root, 'result') !== undefined || field(root, 'error') !== undefined)
    return undefined;
  if (field(root, 'id') === undefined) return { kind: 'notification', method, text, root, params, meta };
  const id = idField(text, root, 'id');
  return id === undefined ? undefined : { kind: 'request', id, method, text, root, params, meta };
}

function response({ text, root, params, meta }: Located): Response | undefined {
  const result = field(root, 'result');
  const error = field(root, 'error');
  const payload = result ?? error;
  if (payload?.inner === undefined || (result !== undefined && error !== undefined)) return undefined;
  const outcome = result === undefined ? 'error' : 'result';
  if (outcome === 'error' && !isErrorObject(text, payload.inner)) return undefined;
  const idMember = field(root, 'id');
  const id = idMember === undefined ? undefined : scalar(text, idMember);
  if (id === null && outcome === 'error') return { kind: 'response', id, outcome, payload, text, root, params, meta };
  const known = idValue(id);
  return known === undefined ? undefined : { kind: 'response', id: known, outcome, payload, text, root, params, meta };
}

/** JSON-RPC 2.0 section 5.1: an integer code and a text. */
function isErrorObject(text: string, error: ObjectNode): boolean {
  return Number.isInteger(numberField(text, error, 'code')) && stringField(text, error, 'message') !== undefined;
}

/** Of a JSON-RPC 2.0 answer only: what is anything else answers nobody, whatever id it holds. */
function idOf(text: string, root: ObjectNode): Id | undefined {
  const answers = field(root, 'result') !== undefined || field(root, 'error') !== undefined;
  return answers && stringField(text, root, 'jsonrpc') === '2.0' ? idField(text, root, 'id') : undefined;
}

/** The same for a text that was not found to be JSON: a guess that at worst ends one request of the peer that wrote it. */
function idIfAny(text: string): Id | undefined {
  try {
    const json = new JsonText(text, MAX_MEMBERS);
    return idOf(text, json.object(json.skipSpace(0), SHAPE));
  } catch {
    return undefined;
  }
}

/** A number spelled with a fraction or exponent is no id: it need not keep the value it was spelled with. */
function idOfMember(text: string, member: Member): Id | undefined {
  const value = idValue(scalar(text, member));
  return typeof value === 'number' && !isInteger(text, member) ? undefined : value;
}

/** A UTF-16 unit is at most three bytes of UTF-8: only a text between the two bounds is counted. */
function isShort(text: string): boolean {
  if (text.length * 3 <= MAX_ID_BYTES) return true;
  return text.length <= MAX_ID_BYTES && new TextEncoder().encode(text).length <= MAX_ID_BYTES;
}

/** Spelled with digits alone. */
function isInteger(text: string, { start, end }: Member): boolean {
  for (let at = start; at < end; at += 1) {
    const code = text.charCodeAt(at);
    if (code !== 0x2d && (code < 0x30 || code > 0x39)) return false;
  }
  return true;
}

function idValue(value: unknown): Id | undefined {
  if (typeof value === 'string') return isShort(value) ? value : undefined;
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined;
}

const LITERALS = new Map<string, unknown>([
  ['true', true],
  ['false', false],
  ['null', null],
]);

/** Decodes a member that is a string, number, true, false or null; undefined for an object or array. */
function scalar(text: string, { start, end }: Member): unknown {
  const code = text.charCodeAt(start);
  if (code === 0x22) return decodeString(text, start, end);
  if (code === 0x7b || code === 0x5b) return undefined;
  const literal = text.slice(start, end);
  return LITERALS.has(literal) ? LITERALS.get(literal) : Number(literal);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function unreadable(problem: Unreadable['problem'], id?: Id): Unreadable {
  return { kind: 'unreadable', problem, id };
}
