export type Fetch = typeof fetch;

/** A key server answered something else than 200. A redirect is one of these: keys come from the configured place or not at all. */
export class StatusError extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`The key server answered with status ${status}`);
    this.name = 'StatusError';
    this.status = status;
  }
}

/** Bytes of an answer, decompressed; key sets and metadata of real issuers stay under 100 KiB. */
const MAX_BYTES = 1024 * 1024;

/** GETs a JSON document. Rejects on any status but 200, on more than 1 MiB, on what is not JSON, and on abort; no error quotes the answer. */
export async function fetchJson(url: URL, options: { fetch: Fetch; signal: AbortSignal }): Promise<unknown> {
  const { signal } = options;
  const response = await options.fetch(url, {
    signal,
    redirect: 'manual',
    headers: { accept: 'application/json, application/jwk-set+json' },
  });
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new StatusError(response.status);
  }
  return parse(await readBounded(response));
}

async function readBounded(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Leaving the loop by the throw cancels the body and with it the connection.
  for await (const chunk of response.body ?? []) {
    const bytes: Uint8Array = chunk;
    size += bytes.length;
    if (size > MAX_BYTES) throw new Error('The answer of the key server is too large');
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error('The answer of the key server is not JSON');
  }
}
