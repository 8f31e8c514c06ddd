import { decoded, type Response } from './envelope.ts';
import { type WireError, wireErrorOf } from './errors.ts';
import { nestsDeeper } from './json-text.ts';

/** Deeper `data` is left out: writing a value recurses, passing a text on does not. */
const MAX_DEPTH = 512;

/** The error of an answer as a value, to be written anew; only for an answer that is an error. */
export function answeredError({ text, payload }: Response): WireError {
  const error = wireErrorOf(decoded(text, payload));
  if (!nestsDeeper(text.slice(payload.start, payload.end), MAX_DEPTH)) return error;
  return { code: error.code, message: error.message };
}
