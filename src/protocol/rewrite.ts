import { field, type Id, type Message, type Request, type Response } from './envelope.ts';
import type { Member } from './json-text.ts';

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

interface Edit {
  readonly member: Member;
  readonly text: string;
}

/**
 * The request as it goes to a link: everything policy judged (`method`, `name`, `uri`, id, token) written from the
 * judged value, the rest of the text unchanged.
 */
export function rewriteRequest(message: Request, judged: Judged): string {
  const { params } = message;
  const names = message.method === 'completion/complete' ? field(params, 'ref')?.inner : params;
  return splice(message, [
    edit(field(message.root, 'method'), message.method),
    edit(field(message.root, 'id'), judged.id),
    edit(field(names, 'name'), judged.name),
    edit(field(names, 'uri'), judged.uri),
    ...metaEdits(message, judged.progressToken),
  ]);
}

/** The envelope of the modern era is between the client and the gateway: an upstream of the other era must not see it. */
const ENVELOPE_KEYS = new Set(
  ['protocolVersion', 'clientCapabilities', 'clientInfo', 'logLevel'].map((key) => `io.modelcontextprotocol/${key}`),
);

function metaEdits({ text, params, meta }: Request, token: Id | undefined): (Edit | undefined)[] {
  const kept = meta?.members.filter(({ key }) => !ENVELOPE_KEYS.has(key));
  const whole = field(params, '_meta');
  if (meta === undefined || kept === undefined || kept.length === meta.members.length || whole === undefined) {
    return [edit(field(meta, 'progressToken'), token)];
  }
  const members = kept.map(({ key, start, end }) => {
    const value = key === 'progressToken' && token !== undefined ? JSON.stringify(token) : text.slice(start, end);
    return `${JSON.stringify(key)}:${value}`;
  });
  return [{ member: whole, text: `{${members.join(',')}}` }];
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
  return member === undefined || value === undefined ? undefined : { member, text: JSON.stringify(value) };
}

function splice(message: Message, edits: readonly (Edit | undefined)[]): string {
  const { text, root } = message;
  const present = edits.filter((e) => e !== undefined);
  const version = field(root, 'jsonrpc');
  if (version !== undefined) present.push({ member: version, text: '"2.0"' });
  present.sort((a, b) => a.member.start - b.member.start);
  let out = '';
  let at = root.start;
  for (const { member, text: replacement } of present) {
    out += text.slice(at, member.start) + replacement;
    at = member.end;
  }
  return out + text.slice(at, root.end);
}
