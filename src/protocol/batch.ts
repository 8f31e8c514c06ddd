import { type Id, idField, type Message, readMessage, textProblem, type Unreadable } from './envelope.ts';
import { JsonText } from './json-text.ts';

/** The one revision that has batches (MCP 2025-03-26, Base Protocol; taken out in 2025-06-18). */
export const BATCH_VERSION = '2025-03-26';

/** Messages one batch may hold. */
export const MAX_BATCH = 64;

/** A frame that is an array, not judged yet: whether it may be one depends on what the session has negotiated by then. */
export interface ArrayFrame {
  readonly kind: 'array';
  readonly text: string;
}

const OPEN_BRACKET = 0x5b;

/** Reads one frame as `readMessage` does, but for arrays. */
export function readFrame(text: string, maxDepth: number): Message | Unreadable | ArrayFrame {
  return startOfValue(text) === OPEN_BRACKET ? { kind: 'array', text } : readMessage(text, maxDepth);
}

/**
 * The texts of a batch's members, none judged as a message yet (JSON-RPC 2.0 section 6). A frame that is not JSON, nests
 * deeper than its members may, is empty or holds more than `MAX_BATCH` is refused as a whole.
 */
export function splitBatch(
  text: string,
  maxDepth: number,
): { readonly members: readonly string[] } | { readonly problem: Unreadable['problem'] } {
  const problem = textProblem(text, maxDepth + 1);
  if (problem !== undefined) return { problem };
  const json = new JsonText(text);
  const spans = json.elements(json.skipSpace(0), MAX_BATCH + 1);
  if (json.deepest > maxDepth + 1) return { problem: 'too_deep' };
  if (spans.length === 0 || spans.length > MAX_BATCH) return { problem: 'not_a_message' };
  return { members: spans.map(({ start, end }) => text.slice(start, end)) };
}

/** The id an answer of the gateway's bears; null where it answers what could not be read. */
export function answeredId(frame: string): Id | null {
  const json = new JsonText(frame);
  return idField(frame, json.object(json.skipSpace(0)), 'id') ?? null;
}

function startOfValue(text: string): number {
  let at = 0;
  while (text.charCodeAt(at) <= 0x20) at += 1;
  return text.charCodeAt(at);
}
