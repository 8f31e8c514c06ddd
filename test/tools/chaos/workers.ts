import { setTimeout as after } from 'node:timers/promises';
import { type Caller, type CallerEra, RawCaller } from '../trial/caller.ts';
import { Random } from '../trial/random.ts';
import { openSdkCaller } from '../trial/sdk-caller.ts';
import { openWebSocket } from '../trial/socket.ts';
import { signToken } from '../trial/tokens.ts';
import type { Calls, Cause } from './calls.ts';
import { KEYS } from './setting.ts';

/** Calls each client keeps in flight. */
const AT_ONCE = 3;
const PAUSE = 20;
/** Milliseconds a call takes: from 50, and up to so many more. */
const SPREAD = 400;

/** A client at work, opened anew whenever its socket is gone. */
export class Worker {
  readonly violations: string[] = [];
  /** Its socket now, where it is one that can be harmed. */
  raw: RawCaller | undefined;
  /** What it has in flight. */
  readonly texts = new Set<string>();
  private readonly calls: Calls;
  private readonly open: () => Promise<Caller>;
  private readonly random: Random;
  private cause: Cause = 'nothing';
  private stopped = false;
  private work: Promise<void> | undefined;

  constructor(calls: Calls, open: () => Promise<Caller>, seed: string) {
    this.calls = calls;
    this.open = open;
    this.random = new Random(seed);
  }

  /** Cuts its socket, and what is in flight or said before it knows. */
  reset(): void {
    this.cause = 'socket reset';
    this.calls.injected('socket reset', [...this.texts]);
    this.raw?.socket.reset();
  }

  start(): void {
    this.work = this.run();
  }

  /** Resolves when all its calls have ended and it has gone. */
  async stop(): Promise<void> {
    this.stopped = true;
    await this.work;
  }

  private async run(): Promise<void> {
    while (!this.stopped) {
      const caller = await this.open();
      this.raw = caller instanceof RawCaller ? caller : undefined;
      this.cause = 'nothing';
      await Promise.all(Array.from({ length: AT_ONCE }, (_, lane) => this.lane(caller, lane)));
      if (this.raw !== undefined) this.violations.push(...this.raw.violations);
      this.raw = undefined;
      await caller.close();
    }
  }

  private async lane(caller: Caller, lane: number): Promise<void> {
    for (let at = lane; !this.stopped; at += 1) {
      const key = KEYS[at % KEYS.length];
      const text = this.calls.next();
      this.texts.add(text);
      const isLost = await this.call(caller, `${key}__slow`, text);
      this.texts.delete(text);
      if (isLost) return;
      await after(PAUSE);
    }
  }

  private async call(caller: Caller, name: string, text: string): Promise<boolean> {
    const { cause } = this;
    const given = { text, ms: 50 + this.random.next() * SPREAD };
    if (!(caller instanceof RawCaller) || this.random.next() > 0.06)
      return (await this.calls.follow(text, caller.call(name, given), { cause })).kind === 'lost';
    const { id, ended } = caller.ask('tools/call', { name, arguments: given });
    void this.calls.follow(text, ended, { cause });
    await after(this.random.next() * SPREAD);
    if (caller.cancel(id)) this.calls.cancelled(text);
    return caller.socket.ended !== undefined;
  }
}

/** Of both eras and several principals: some written by hand, some official SDKs on the gateway's own client transport. */
export function makeWorkers(port: number, calls: Calls, seed: string): Worker[] {
  const ways: (() => Promise<Caller>)[] = [];
  for (const era of ['handshake', 'modern'] as const) {
    for (let at = 0; at < 4; at += 1) ways.push(() => openRawCaller(port, era, `${era}-${at % 2}`));
    ways.push(async () => openSdkCaller(port, await signToken({ sub: `sdk-${era}` }), era));
  }
  return ways.map((open, at) => new Worker(calls, open, `${seed}:${at}`));
}

export async function openRawCaller(port: number, era: CallerEra, sub: string, life = 3600): Promise<RawCaller> {
  return new RawCaller(await openWebSocket(port, await signToken({ sub, life })), era).open();
}
