import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { dialStdio } from '../../../src/upstream/stdio.ts';
import type { ChannelUnderTest, Peer } from '../../kits/transport-kit.ts';
import { realClock, recordingLog, recordingMeter } from './recorders.ts';

/** A stdio channel whose child does what the test tells it over a loopback socket. */
export async function puppetChannel(greeting: readonly string[]): Promise<ChannelUnderTest> {
  const control = createServer();
  control.listen(0, '127.0.0.1');
  await once(control, 'listening');
  const connected = once(control, 'connection').then(([socket]: Socket[]) => puppet(socket));
  const open = new Set<() => Promise<void>>();
  const dial = dialStdio(
    { command: process.execPath, args: [script, String(portOf(control)), JSON.stringify(greeting)], maxMessage: 16e6 },
    { log: recordingLog().log, meter: recordingMeter().meter, upstream: 'puppet', clock: realClock, environment: {} },
  );
  return {
    async dial(receiver, signal) {
      const channel = await dial(receiver, signal);
      open.add(() => channel.close());
      return channel;
    },
    peer: () => connected,
    async dispose() {
      for (const close of open) await close();
      control.close();
    },
  };
}

const script = fileURLToPath(new URL('puppet.mjs', import.meta.url));

function portOf(server: ReturnType<typeof createServer>): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not listening on a port');
  return address.port;
}

function puppet(socket: Socket | undefined): Peer {
  if (socket === undefined) throw new Error('no connection');
  const inbox = queue<string>();
  const said = queue<true>();
  let rest = '';
  socket.setEncoding('utf8');
  socket.on('error', () => {});
  socket.on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const word: { got?: string; said?: true } = JSON.parse(line);
      if (word.got !== undefined) inbox.put(word.got);
      if (word.said) said.put(true);
    }
  });
  const order = (what: object) => socket.write(`${JSON.stringify(what)}\n`);
  return {
    async send(...messages) {
      order({ say: messages });
      await said.take();
    },
    next: inbox.take,
    async end() {
      order({ end: true });
    },
  };
}

export function queue<T>(): { put(item: T): void; take(): Promise<T> } {
  // Boxed: an item may be undefined.
  const items: { readonly item: T }[] = [];
  const takers: ((item: T) => void)[] = [];
  return {
    put(item) {
      const taker = takers.shift();
      if (taker === undefined) items.push({ item });
      else taker(item);
    },
    take: () =>
      new Promise((resolve) => {
        const next = items.shift();
        if (next === undefined) takers.push(resolve);
        else resolve(next.item);
      }),
  };
}
