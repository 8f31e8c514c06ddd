import { type IncomingHttpHeaders, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';

export interface UpgradeAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface UpgradeRequest {
  readonly method?: string;
  /** Over those of a plain WebSocket upgrade; undefined leaves one out. */
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Path and query, if not those of `url`. */
  readonly path?: string;
}

/** One upgrade as HTTP sees it: nothing but what is given here is sent. The socket is destroyed when the test ends. */
export async function upgrade(url: string, { method = 'GET', headers = {}, path }: UpgradeRequest = {}) {
  const { hostname, port, pathname } = new URL(url);
  const all = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    ...headers,
  };
  const given = Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
  const outgoing = request({ hostname, port, method, path: path ?? pathname, agent: false });
  for (const [name, value] of given) outgoing.setHeader(name, value);
  onTestFinished(() => void outgoing.destroy());
  return new Promise<UpgradeAnswer>((resolve, reject) => {
    outgoing.once('error', reject);
    outgoing.once('upgrade', (response) => {
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: '' });
    });
    outgoing.once('response', (response) => {
      text(response).then((body) => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body });
      }, reject);
    });
    outgoing.end();
  });
}
