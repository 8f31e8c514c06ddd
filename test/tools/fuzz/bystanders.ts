import { setTimeout as after } from 'node:timers/promises';
import { type Caller, RawCaller } from '../trial/caller.ts';
import { openSdkCaller } from '../trial/sdk-caller.ts';
import { openLines, openWebSocket } from '../trial/socket.ts';
import type { Door } from './door.ts';

/** A call every so many milliseconds: far below any rate the gateway has by default. */
const PAUSE = 25;

/** Well-behaved clients of both eras at work beside the mutants: each must hear what it said, whatever others do. */
export class Bystanders {
  calls = 0;
  readonly wrong: string[] = [];
  private readonly callers: Caller[] = [];
  private stopped = false;
  private work: Promise<unknown> = Promise.resolve();

  static async start(door: Door, keys: readonly string[]): Promise<Bystanders> {
    const all = new Bystanders();
    const callers = await openCallers(door);
    all.callers.push(...callers);
    all.work = Promise.all(callers.map((caller, at) => all.run(caller, keys, `c${at}`)));
    return all;
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await this.work;
    for (const caller of this.callers) {
      if (caller instanceof RawCaller) this.wrong.push(...caller.violations);
      await caller.close();
    }
  }

  private async run(caller: Caller, keys: readonly string[], name: string): Promise<void> {
    for (let at = 0; !this.stopped; at += 1) {
      const key = keys[at % keys.length];
      const text = `${name} said ${at}`;
      const end = await caller.call(`${key}__echo`, { text });
      this.calls += 1;
      if (end.kind !== 'text' || end.text !== text) this.wrong.push(`${key} to ${text}: ${JSON.stringify(end)}`);
      if (end.kind === 'lost') return;
      await after(PAUSE);
    }
  }
}

async function openCallers({ port, tcpPort, tokens }: Door): Promise<Caller[]> {
  const raw = async (era: 'handshake' | 'modern', sub: string) =>
    new RawCaller(
      tcpPort === 0 ? await openWebSocket(port, await tokens?.(sub)) : await openLines(tcpPort),
      era,
    ).open();
  const callers: Caller[] = [await raw('handshake', 'bystander-1'), await raw('modern', 'bystander-2')];
  if (tokens === undefined) return callers;
  callers.push(await openSdkCaller(port, await tokens('bystander-3'), 'handshake'));
  callers.push(await openSdkCaller(port, await tokens('bystander-4'), 'modern'));
  return callers;
}
