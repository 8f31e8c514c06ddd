import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import type { Clock } from '../../../src/ports/clock.ts';
import { dialStdio, type StdioDeps, type StdioOptions } from '../../../src/upstream/stdio.ts';
import { realClock, recordingLog, recordingMeter, recordingReceiver } from './recorders.ts';

/** The child that does what each request asks; see its head for the methods. */
export const scripted = fileURLToPath(new URL('scripted.mjs', import.meta.url));
export const node = process.execPath;

export interface Overrides extends Partial<StdioOptions> {
  readonly environment?: NodeJS.ProcessEnv;
  readonly atExit?: StdioDeps['atExit'];
  readonly clock?: Clock;
  readonly onMessage?: (text: string) => void;
}

/** A running scripted child (or another command) under the real stdio channel; closed when the test is over. */
export async function openChild({ environment, atExit, onMessage, clock, ...options }: Overrides = {}) {
  const { log, entries } = recordingLog();
  const { meter, gauge } = recordingMeter();
  const receiver = recordingReceiver(onMessage);
  const dial = dialStdio(
    { command: node, args: [scripted], maxMessage: 16 * 1024 * 1024, ...options },
    {
      log,
      meter,
      upstream: 'child',
      clock: clock ?? realClock,
      environment: environment ?? { PATH: process.env.PATH },
      ...(atExit === undefined ? {} : { atExit }),
    },
  );
  const channel = await dial(receiver, new AbortController().signal);
  onTestFinished(() => channel.close());
  let id = 0;
  const send = (method: string, params: object = {}) => {
    id += 1;
    channel.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }), id);
    return id;
  };
  const call = async (method: string, params: object = {}) => {
    send(method, params);
    const answer: { id: number; result: Record<string, unknown> } = JSON.parse(await receiver.next());
    return answer.result;
  };
  const children = () => gauge('children', { upstream: 'child' });
  return { channel, receiver, send, call, entries, children };
}

/** Whether a process with this id runs. One that is dead and only not reaped yet does not. */
export function isAlive(pid: unknown): boolean {
  try {
    process.kill(Number(pid), 0);
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ENOENT' && !existsSync('/proc/self');
  }
}
