import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { Peer, type PeerEra } from './peer.ts';

/**
 * A peer as a child process: `peer-stdio.js KEY ERA [PORT]`. It complains on standard error about a line that is not one
 * message. On 127.0.0.1:PORT it says, whenever that changes, which calls it has in hand, by their texts.
 */
const [, , key = '', era = '', port] = process.argv;
const control = port === undefined ? undefined : connect(Number(port), '127.0.0.1').on('error', () => {});
const calls = new Set<string>();
const tell = () => control?.write(`${JSON.stringify({ pid: process.pid, calls: [...calls] })}\n`);
const peer = new Peer(
  { key, era: eraOf(era), asks: true },
  (message) => void process.stdout.write(`${JSON.stringify(message)}\n`),
  {
    began(text) {
      calls.add(text);
      tell();
    },
    ended(text) {
      calls.delete(text);
      tell();
    },
  },
);

const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => {
  const message = read(line);
  if (message === undefined) process.stderr.write(`no message: ${line.slice(0, 500)}\n`);
  else peer.take(message);
});
lines.on('close', () => process.exit(0));

function read(line: string): Record<string, unknown> | undefined {
  try {
    const message: unknown = JSON.parse(line);
    const isOne = typeof message === 'object' && message !== null && 'jsonrpc' in message && message.jsonrpc === '2.0';
    return isOne ? Object.fromEntries(Object.entries(message)) : undefined;
  } catch {
    return undefined;
  }
}

function eraOf(text: string): PeerEra {
  return text === 'modern' ? 'modern' : 'handshake';
}
