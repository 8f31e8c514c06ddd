import type { Outgoing } from '../ports/link.ts';
import { decoded, progressToken, type Response } from '../protocol/envelope.ts';
import { AnsweredError, type WireError } from '../protocol/errors.ts';
import { rewriteRequest } from '../protocol/rewrite.ts';

/** The caller's request as the upstream is to see it: under the link's id, which is also its progress token where the caller has one. */
export function outgoingText({ message, name, uri }: Outgoing, id: number): string {
  const token = progressToken(message) === undefined ? {} : { progressToken: id };
  return rewriteRequest(message, {
    id,
    ...(name === undefined ? {} : { name }),
    ...(uri === undefined ? {} : { uri }),
    ...token,
  });
}

/** Ends a request of the gateway's own with the JSON text of its result, or with the error it was answered with. */
export function settle(response: Response, resolve: (result: string) => void, reject: (error: Error) => void): void {
  const { text, payload } = response;
  if (response.outcome === 'result') resolve(text.slice(payload.start, payload.end));
  else reject(new AnsweredError(wireError(decoded(text, payload))));
}

function wireError(value: unknown): WireError {
  const error = typeof value === 'object' && value !== null ? value : {};
  const code = 'code' in error && typeof error.code === 'number' ? error.code : 0;
  const message = 'message' in error && typeof error.message === 'string' ? error.message : '';
  return { code, message, ...('data' in error && { data: error.data }) };
}
