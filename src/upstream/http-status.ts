import type { BodyKind } from './http-body.ts';

/** What is not there any more: the MCP session (404), or anybody to connect to. */
export type Lost = 'session' | 'server';

/** What the status of a POST says: `lost` is the session, `refused` fails the call unless its JSON body answers it all the same. */
export type PostVerdict = 'taken' | 'refused' | 'lost';

/** `sessioned`: the request named a session, so that 404 means the server has forgotten it (MCP 2025-11-25, session management). */
export function judgePost(status: number, sessioned: boolean): PostVerdict {
  if (status >= 200 && status < 300) return 'taken';
  return status === 404 && sessioned ? 'lost' : 'refused';
}

/** What to do after a GET for a stream: read it, ask again, ask again from now on instead of from the last event, or stop asking. */
export type StreamVerdict = 'read' | 'again' | 'afresh' | 'lost' | 'none';

export interface StreamRequest {
  readonly resuming: boolean;
  /** A stream of this session was read before: 404 is then a lost session, and until then maybe just a missing route. */
  readonly hadStream: boolean;
}

/** 409 is a server that has not noticed the end of the stream before; 405 says it has none (MCP 2025-11-25, listening). */
export function judgeStream(status: number, kind: BodyKind, { resuming, hadStream }: StreamRequest): StreamVerdict {
  if (status === 200 && kind === 'events') return 'read';
  if (status === 409 || status === 429 || status >= 500) return 'again';
  if (status === 404 && hadStream) return 'lost';
  return status === 400 && resuming ? 'afresh' : 'none';
}

export function statusError(status: number): Error {
  const note = status >= 300 && status < 400 ? ', and redirects are not followed' : '';
  return new Error(`HTTP ${status}${note}`);
}
