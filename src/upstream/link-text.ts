import type { Outgoing } from '../ports/link.ts';
import type { About } from '../ports/transport.ts';
import { answeredError } from '../protocol/answered-error.ts';
import { progressToken, type Response } from '../protocol/envelope.ts';
import { AnsweredError } from '../protocol/errors.ts';
import { mirroredValues } from '../protocol/mirrored-values.ts';
import { rewriteRequest, type Stamped } from '../protocol/rewrite.ts';

/** The caller's request as the upstream is to see it: under the link's id, which is also its progress token where the caller has one. */
export function outgoingText({ message, name, uri }: Outgoing, id: number, stamped: Stamped): string {
  const token = progressToken(message) === undefined ? undefined : id;
  return rewriteRequest(message, { id, name, uri, progressToken: token }, stamped);
}

export function aboutOutgoing({ message, name, uri, mirrors }: Outgoing): About {
  const about = { method: message.method, name: name ?? uri };
  return mirrors === undefined ? about : { ...about, params: mirroredValues(message, mirrors) };
}

/** Ends a request of the gateway's own with the JSON text of its result, or with the error it was answered with. */
export function settle(response: Response, resolve: (result: string) => void, reject: (error: Error) => void): void {
  const { text, payload } = response;
  if (response.outcome === 'result') resolve(text.slice(payload.start, payload.end));
  else reject(new AnsweredError(answeredError(response)));
}
