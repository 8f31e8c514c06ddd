import { connectRaw, type RawClient, type RawClientOptions } from './raw-client.ts';

export type ClientEra = 'handshake' | 'modern';
export const CLIENT_ERAS: readonly ClientEra[] = ['handshake', 'modern'];

type Fields = Readonly<Record<string, unknown>>;

/** A bare client of either era: what a test asks of it and expects of it differs only by what the revisions demand. */
export interface EraClient {
  readonly era: ClientEra;
  readonly raw: RawClient;
  /** A request as a client of this era sends it. `meta` is laid over what the era puts there. */
  request(id: string | number, method: string, params?: Fields, meta?: Fields): object;
  /** The same, sent; the next frame, parsed. */
  ask(id: string | number, method: string, params?: Fields, meta?: Fields): Promise<unknown>;
  /** The answer to a request, as this era has it; `more` is what the modern one puts beside the result of some. */
  result(id: string | number, result: Fields, more?: Fields): object;
  /** Everything the gateway had to say until now. */
  pending(): Promise<string[]>;
}

/** What the modern era has in the results of reads and lists. */
export const UNCACHED = { ttlMs: 0, cacheScope: 'private' };

/** Connects; a handshake client has completed its handshake. Terminated when the test ends. */
export async function openEra(
  era: ClientEra,
  url: string,
  capabilities: Fields = {},
  options: RawClientOptions = {},
): Promise<EraClient> {
  const raw = await connectRaw(url, options);
  if (era === 'handshake') await raw.initialize('2025-11-25', capabilities);
  return era === 'handshake' ? handshakeClient(raw) : modernClient(raw, capabilities);
}

function handshakeClient(raw: RawClient): EraClient {
  const request: EraClient['request'] = (id, method, params = {}, meta) => ({
    jsonrpc: '2.0',
    id,
    method,
    params: meta === undefined ? params : { ...params, _meta: meta },
  });
  return {
    era: 'handshake',
    raw,
    request,
    ask: (...asked) => raw.ask(request(...asked)),
    result: (id, result) => ({ jsonrpc: '2.0', id, result }),
    pending: () => raw.barrier(),
  };
}

function modernClient(raw: RawClient, capabilities: Fields): EraClient {
  const envelope = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  };
  const request: EraClient['request'] = (id, method, params = {}, meta = {}) => ({
    jsonrpc: '2.0',
    id,
    method,
    params: { ...params, _meta: { ...envelope, ...meta } },
  });
  return {
    era: 'modern',
    raw,
    request,
    ask: (...asked) => raw.ask(request(...asked)),
    result: (id, result, more = {}) => ({ jsonrpc: '2.0', id, result: { resultType: 'complete', ...more, ...result } }),
    async pending() {
      raw.send(request('pending', 'no/such'));
      const before: string[] = [];
      for (let frame = await raw.next(); !frame.includes('"id":"pending"'); frame = await raw.next())
        before.push(frame);
      return before;
    },
  };
}
