/** The members a message may open with, up to the one that tells a response from a request. */
const HEAD = /^\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?(?:"id"\s*:\s*(-?\d{1,16})\s*,\s*)?"(result|error|method)"\s*:/;
/** An `id` that is the last member of the outermost object. */
const TAIL = /,\s*"id"\s*:\s*(-?\d{1,16})\s*\}\s*$/;
const TAIL_LENGTH = 80;

/**
 * Whether a message is the response to the request `id`. Says what JSON.parse would say, but builds no tree for the
 * member orders that implementations write; false for what is not JSON. Of a message that has both a result and a method,
 * which is neither, the first written of the two counts.
 */
export function answers(text: string, id: number): boolean {
  const head = HEAD.exec(text);
  if (head === null) return parsedAnswers(text, id);
  if (head[2] === 'method') return false;
  const written = head[1] ?? TAIL.exec(text.slice(-TAIL_LENGTH))?.[1];
  return written === undefined ? parsedAnswers(text, id) : Number(written) === id;
}

function parsedAnswers(text: string, id: number): boolean {
  const message = parsed(text);
  if (typeof message !== 'object' || message === null || Array.isArray(message)) return false;
  const isResponse = 'result' in message || 'error' in message;
  return isResponse && !('method' in message) && 'id' in message && message.id === id;
}

/** The version an answer to `initialize` settles on, when it names one that can stand in a header. */
export function negotiatedVersion(initializeAnswer: string): string | undefined {
  const message = parsed(initializeAnswer);
  if (typeof message !== 'object' || message === null || !('result' in message)) return undefined;
  const { result } = message;
  if (typeof result !== 'object' || result === null || !('protocolVersion' in result)) return undefined;
  const version = result.protocolVersion;
  return typeof version === 'string' && /^[\w.-]{1,32}$/.test(version) ? version : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
