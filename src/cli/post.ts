import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';

/** Milliseconds for all of it: connecting, asking, the answer's last byte. */
const WITHIN_MS = 10_000;
const MAX_ANSWER_BYTES = 64 * 1024;

type Fields = Readonly<Record<string, unknown>>;

/** `body` is empty where the answer holds no JSON object. `failure` completes a sentence about whoever was asked. */
export type Answer = { readonly status: number; readonly body: Fields } | { readonly failure: string };

/** Posts JSON. Never rejects, follows no redirect, and is over in time. */
export async function post(url: string, body: string, headers: Readonly<Record<string, string>>): Promise<Answer> {
  const signal = AbortSignal.timeout(WITHIN_MS);
  const send = url.startsWith('https:') ? httpsRequest : httpRequest;
  const type = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const request = send(url, { method: 'POST', signal, agent: false, headers: { ...headers, ...type } }, resolve);
      request.on('error', reject);
      request.end(body);
    });
    return { status: response.statusCode ?? 0, body: fieldsOf(await textOf(response)) };
  } catch (error) {
    if (signal.aborted) return { failure: `did not answer within ${WITHIN_MS / 1000} s` };
    return { failure: `cannot be asked: ${codeOf(error)}` };
  }
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) throw new Error('its answer is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function fieldsOf(text: string): Fields {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

/** The code of a system's error (ECONNREFUSED); of several attempts that of the last. */
function codeOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors.at(-1));
  if (!(error instanceof Error)) return String(error);
  return 'code' in error ? String(error.code) : error.message;
}
