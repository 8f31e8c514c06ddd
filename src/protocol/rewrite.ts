import { field, type Id, type Message, type Request, type Response } from './envelope.ts';
import type { Member, ObjectNode } from './json-text.ts';

/** What is written in place of the sender's own. A field the message does not have is never added. */
export interface Judged {
  readonly id?: Id | undefined;
  readonly name?: string | undefined;
  readonly uri?: string | undefined;
  /** Replaces `params._meta.progressToken` of a request, `params.progressToken` of a progress notification. */
  readonly progressToken?: Id | undefined;
  /** Replaces `params.requestId` of a cancellation. */
  readonly requestId?: Id | undefined;
}

/** What a request gets on its way to a link besides, whether it had such members or not. JSON texts. */
export interface Stamped {
  /** Members of `params._meta`, at least one: the envelope of the link. */
  readonly envelope?: string;
  /** Members of `params` in place of the sender's `inputResponses` and `requestState`, which always go. */
  readonly inputs?: readonly string[];
}

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/**
 * The request as it goes to a link: everything policy judged (`method`, `name`, `uri`, id, token) written from the
 * judged value, the rest of the text unchanged. The sender's envelope of the modern era is taken out.
 */
export function rewriteRequest(message: Request, judged: Judged, stamped: Stamped = {}): string {
  const { params, text } = message;
  const names = message.method === 'completion/complete' ? field(params, 'ref')?.inner : params;
  const edits: Edit[] = [];
  put(edits, text, field(message.root, 'method'), message.method);
  put(edits, text, field(message.root, 'id'), judged.id);
  put(edits, text, field(names, 'name'), judged.name);
  put(edits, text, field(names, 'uri'), judged.uri);
  put(edits, text, field(message.meta, 'progressToken'), judged.progressToken);
  changeParams(message, stamped, edits);
  changeMeta(message, stamped, edits);
  return splice(message, edits);
}

/** The envelope of the modern era is between the client and the gateway: each link has its own or none. */
const ENVELOPE_KEYS = new Set(
  ['protocolVersion', 'clientCapabilities', 'clientInfo', 'logLevel'].map((key) => `io.modelcontextprotocol/${key}`),
);
const INPUT_KEYS = new Set(['inputResponses', 'requestState']);
/**
 * The gateway announces no tasks to either side: a request that asks for one is served as if it had not (MCP 2025-11-25,
 * Tasks, Task Support and Handling), so the peer must not see that it did.
 */
const TASK_METHODS = new Set(['tools/call', 'sampling/createMessage', 'elicitation/create']);
const TASK_KEYS = new Set(['task']);
const TASK_AND_INPUT_KEYS: ReadonlySet<string> = new Set([...TASK_KEYS, ...INPUT_KEYS]);
const NO_KEYS: ReadonlySet<string> = new Set();

function droppedKeys(method: string, { inputs }: Stamped): ReadonlySet<string> {
  const hasTask = TASK_METHODS.has(method);
  if (inputs === undefined) return hasTask ? TASK_KEYS : NO_KEYS;
  return hasTask ? TASK_AND_INPUT_KEYS : INPUT_KEYS;
}

function changeParams({ text, root, params, method }: Request, stamped: Stamped, edits: Edit[]): void {
  const { envelope, inputs } = stamped;
  const meta = envelope === undefined || field(params, '_meta') !== undefined ? '' : `"_meta":{${envelope}}`;
  const added = inputs === undefined || inputs.length === 0 ? meta : [meta, ...inputs].filter(Boolean).join(',');
  if (params !== undefined) return change(text, params, droppedKeys(method, stamped), added, edits);
  const end = root.end - 1;
  if (added !== '') edits.push({ start: end, end, text: `,"params":{${added}}` });
}

function changeMeta({ text, params, meta }: Request, { envelope = '' }: Stamped, edits: Edit[]): void {
  if (meta !== undefined) return change(text, meta, ENVELOPE_KEYS, envelope, edits);
  const other = envelope === '' ? undefined : field(params, '_meta');
  if (other !== undefined) edits.push({ start: other.start, end: other.end, text: `{${envelope}}` });
}

/** Puts members in front and takes those of these keys out, each with its comma; the text of the others stays as it is. */
function change(text: string, node: ObjectNode, dropped: ReadonlySet<string>, added: string, edits: Edit[]): void {
  const { members } = node;
  const start = node.start + 1;
  let leading = 0;
  for (const { key } of members) {
    if (!dropped.has(key)) break;
    leading += 1;
  }
  const isAll = leading === members.length;
  const lead = members[leading - 1];
  if (lead === undefined) {
    if (added !== '') edits.push({ start, end: start, text: isAll ? added : `${added},` });
  } else if (isAll) edits.push({ start, end: lead.end, text: added });
  else edits.push({ start, end: text.indexOf(',', lead.end) + 1, text: added === '' ? '' : `${added},` });
  for (let at = leading + 1; at < members.length; at += 1) {
    const [before, member] = [members[at - 1], members[at]];
    if (before !== undefined && member !== undefined && dropped.has(member.key))
      edits.push({ start: before.end, end: member.end, text: '' });
  }
}

/** The answer as it goes to the one who asked: under its own id, the payload unchanged but for `code`, where given, of its error. */
export function rewriteResponse(message: Response, id: Id, code?: number): string {
  const edits: Edit[] = [];
  put(edits, message.text, field(message.root, 'id'), id);
  if (code !== undefined) put(edits, message.text, field(message.payload.inner, 'code'), code);
  return splice(message, edits);
}

/** A notification with the ids it names translated. */
export function rewriteNotification(message: Message & { kind: 'notification' }, judged: Judged): string {
  const { params, text } = message;
  const edits: Edit[] = [];
  put(edits, text, field(message.root, 'method'), message.method);
  put(edits, text, field(params, 'progressToken'), judged.progressToken);
  put(edits, text, field(params, 'requestId'), judged.requestId);
  put(edits, text, field(params, 'uri'), judged.uri);
  return splice(message, edits);
}

/** Nothing where it stands there as it would be written: most texts then stay in few pieces. */
function put(edits: Edit[], text: string, member: Member | undefined, value: Id | undefined): void {
  if (member === undefined || value === undefined) return;
  const { start, end } = member;
  const spelled = typeof value === 'number' ? String(value) : JSON.stringify(value);
  if (end - start !== spelled.length || !text.startsWith(spelled, start)) edits.push({ start, end, text: spelled });
}

/** Edits, which this puts in order, do not overlap. */
function splice(message: Message, edits: Edit[]): string {
  const { text, root } = message;
  put(edits, text, field(root, 'jsonrpc'), '2.0');
  edits.sort((a, b) => a.start - b.start);
  let out = '';
  let at = root.start;
  for (const { start, end, text: replacement } of edits) {
    out += text.slice(at, start) + replacement;
    at = end;
  }
  return out + text.slice(at, root.end);
}
