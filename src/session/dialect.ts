import type { Request, Response } from '../protocol/envelope.ts';
import type { Era } from '../protocol/era.ts';
import type { WireError } from '../protocol/errors.ts';
import { modernAnswer, modernError, modernResult } from '../protocol/modern.ts';
import { rewriteResponse } from '../protocol/rewrite.ts';

/** How answers are spelled to clients of one era. */
export interface Dialect {
  /** An upstream's answer to this request, as the frame for the client. */
  answer(response: Response, request: Request): string;
  /** The JSON text of a result of the gateway's own. */
  result(method: string, result: string): string;
  /** An error of the gateway's own. */
  error(error: WireError): WireError;
}

export const DIALECTS: Readonly<Record<Era, Dialect>> = {
  handshake: {
    answer: (response, request) => rewriteResponse(response, request.id),
    result: (_method, result) => result,
    error: (error) => error,
  },
  modern: {
    answer: (response, request) => modernAnswer(response, request.method, request.id),
    result: modernResult,
    error: modernError,
  },
};
