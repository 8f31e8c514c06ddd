import { resolve } from 'node:path';
import { type HttpPeer, serveHttpPeer } from '../trial/peer-http.ts';
import { AUTH } from '../trial/tokens.ts';
import { Children } from './children.ts';

const STDIO_PEER = resolve('dist-tools/test/tools/trial/peer-stdio.js');

/** Upstreams that fail: a process for each session, one for all; an HTTP session for each session, one for all. */
export const KEYS = ['own', 'pool', 'web', 'webpool'] as const;

/** Seconds: what a token may be used beyond its end, and what calls in flight have then. */
export const TOLERANCE = 1;
export const GRACE = 4;

export interface Setting {
  readonly config: object;
  readonly children: Children;
  readonly web: readonly HttpPeer[];
  close(): void;
}

export async function openSetting(): Promise<Setting> {
  const children = new Children();
  const port = await children.listen();
  const web = [await serveHttpPeer('web'), await serveHttpPeer('webpool')];
  const child = (key: string, ...more: string[]) => ({
    command: process.execPath,
    args: [STDIO_PEER, key, 'handshake', ...more],
  });
  const [own, pool] = web.map(({ url }) => url);
  const limits = {
    outbox: '256KiB',
    slowReader: '1s',
    requestsPerSecond: null,
    connectionsPerPrincipal: 200,
    children: 200,
    childrenPerPrincipal: 100,
    childStartsPerSecond: 50,
  };
  return {
    config: {
      limits,
      auth: { ...AUTH, clockTolerance: `${TOLERANCE}s`, expiryGrace: `${GRACE}s` },
      policy: [{ allow: { tools: ['**'] } }],
      mcpServers: {
        own: { ...child('own', String(port)), maxLinks: 200 },
        pool: { ...child('pool', String(port)), isolation: 'shared' },
        // These say nothing of themselves, so nobody kills them: what they are asked is hit by other faults.
        bulk: { ...child('bulk'), isolation: 'shared' },
        calm: { ...child('calm'), isolation: 'shared' },
        web: { url: own, maxLinks: 200 },
        webpool: { url: pool, isolation: 'shared' },
      },
    },
    children,
    web,
    close() {
      children.close();
      for (const peer of web) peer.close();
    },
  };
}
