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
  const { params, meta } = message;
  const names = message.method === 'completion/complete' ? field(params, 'ref')?.inner : params;
  return splice(message, [
    edit(field(message.root, 'method'), message.method),
    edit(field(message.root, 'id'), judged.id),
    edit(field(names, 'name'), judged.name),
    edit(field(names, 'uri'), judged.uri),
    edit(field(meta, 'progressToken'), judged.progressToken),
  ]);
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
