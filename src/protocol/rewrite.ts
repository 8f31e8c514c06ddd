import { field, type Id, type Message, type Request, type Response } from './envelope.ts';
import type { Member, ObjectNode } from './json-text.ts';

/** What is written in place of the sender's own. A field the message does not have is never added. */
export interface Judged {
  readonly id?: Id;
  readonly name?: string;
  readonly uri?: string;
  /** Replaces `params._meta.progressToken` of a request, `params.progressToken` of a progress notification. */
  readonly progressToken?: Id;
  /** Replaces `params.requestId` of a cancellation. */
  readonly requestId?: Id;
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
  const { params } = message;
  const names = message.method === 'completion/complete' ? field(params, 'ref')?.inner : params;
  return splice(message, [
    ...paramsEdits(message, stamped),
    ...metaEdits(message, stamped),
    edit(field(message.root, 'method'), message.method),
    edit(field(message.root, 'id'), judged.id),
    edit(field(names, 'name'), judged.name),
    edit(field(names, 'uri'), judged.uri),
    edit(field(message.meta, 'progressToken'), judged.progressToken),
  ]);
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
const NO_KEYS: ReadonlySet<string> = new Set();

function droppedKeys(method: string, { inputs }: Stamped): ReadonlySet<string> {
  const task = TASK_METHODS.has(method) ? TASK_KEYS : NO_KEYS;
  return inputs === undefined ? task : new Set([...task, ...INPUT_KEYS]);
}

function paramsEdits({ text, root, params, method }: Request, stamped: Stamped): Edit[] {
  const { envelope, inputs } = stamped;
  const meta = envelope === undefined || field(params, '_meta') !== undefined ? [] : [`"_meta":{${envelope}}`];
  const added = [...meta, ...(inputs ?? [])];
  if (params !== undefined) return change(text, params, droppedKeys(method, stamped), added);
  const end = root.end - 1;
  return added.length === 0 ? [] : [{ start: end, end, text: `,"params":{${added.join(',')}}` }];
}

function metaEdits({ text, params, meta }: Request, { envelope }: Stamped): Edit[] {
  if (meta !== undefined) return change(text, meta, ENVELOPE_KEYS, envelope === undefined ? [] : [envelope]);
  const other = envelope === undefined ? undefined : field(params, '_meta');
  return other === undefined ? [] : [{ start: other.start, end: other.end, text: `{${envelope}}` }];
}

/** Puts members in front and takes those of these keys out, each with its comma; the text of the others stays as it is. */
function change(text: string, node: ObjectNode, dropped: ReadonlySet<string>, added: readonly string[]): Edit[] {
  const { members } = node;
  const first = members.findIndex(({ key }) => !dropped.has(key));
  const leading = first < 0 ? members.length : first;
  const start = node.start + 1;
  const edits: Edit[] = [];
  if (added.length > 0) edits.push({ start, end: start, text: added.join(',') + (first < 0 ? '' : ',') });
  const lead = members[leading - 1];
  if (lead !== undefined) edits.push({ start, end: first < 0 ? lead.end : text.indexOf(',', lead.end) + 1, text: '' });
  for (let at = leading + 1; at < members.length; at += 1) {
    const [before, member] = [members[at - 1], members[at]];
    if (before !== undefined && member !== undefined && dropped.has(member.key))
      edits.push({ start: before.end, end: member.end, text: '' });
  }
  return edits;
}

/** The answer as it goes to the one who asked: under its own id, the payload unchanged but for `code`, where given, of its error. */
export function rewriteResponse(message: Response, id: Id, code?: number): string {
  return splice(message, [
    edit(field(message.root, 'id'), id),
    edit(code === undefined ? undefined : field(message.payload.inner, 'code'), code),
  ]);
}

/** A notification with the ids it names translated. */
export function rewriteNotification(message: Message & { kind: 'notification' }, judged: Judged): string {
  const { params } = message;
  return splice(message, [
    edit(field(message.root, 'method'), message.method),
    edit(field(params, 'progressToken'), judged.progressToken),
    edit(field(params, 'requestId'), judged.requestId),
    edit(field(params, 'uri'), judged.uri),
  ]);
}

function edit(member: Member | undefined, value: Id | undefined): Edit | undefined {
  if (member === undefined || value === undefined) return undefined;
  return { start: member.start, end: member.end, text: JSON.stringify(value) };
}

/** Edits do not overlap; of two at one place the first given comes first. */
function splice(message: Message, edits: readonly (Edit | undefined)[]): string {
  const { text, root } = message;
  const present = edits.filter((e) => e !== undefined);
  const version = field(root, 'jsonrpc');
  if (version !== undefined) present.push({ start: version.start, end: version.end, text: '"2.0"' });
  present.sort((a, b) => a.start - b.start);
  let out = '';
  let at = root.start;
  for (const { start, end, text: replacement } of present) {
    out += text.slice(at, start) + replacement;
    at = end;
  }
  return out + text.slice(at, root.end);
}
