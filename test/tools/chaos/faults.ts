import { setTimeout as after } from 'node:timers/promises';
import type { RawCaller } from '../trial/caller.ts';
import type { Random } from '../trial/random.ts';
import { until } from '../trial/until.ts';
import { type Calls, FAULTS, type FaultName } from './calls.ts';
import { GRACE, type Setting, TOLERANCE } from './setting.ts';
import { openRawCaller, type Worker } from './workers.ts';

/** Milliseconds between two injections of a kind. */
const EVERY: Readonly<Record<FaultName, number>> = {
  'child killed': 1300,
  'HTTP cut': 1100,
  'socket reset': 1500,
  'reader stalled': 2000,
  'token expired': 500,
};
const STALLED = { calls: 40, bytes: 400_000 };

/** Injects faults of all kinds, each into calls in flight, until it is stopped. */
export class Chaos {
  /** Sockets that did not end as they should. */
  readonly wrong: string[] = [];
  /** Readers that stalled until their sockets were closed. */
  givenUp = 0;
  private readonly port: number;
  private readonly setting: Setting;
  private readonly calls: Calls;
  private readonly workers: readonly Worker[];
  private readonly random: Random;
  private stopped = false;
  private work: Promise<unknown> = Promise.resolve();
  private turn = 0;

  constructor(port: number, setting: Setting, calls: Calls, workers: readonly Worker[], random: Random) {
    this.port = port;
    this.setting = setting;
    this.calls = calls;
    this.workers = workers;
    this.random = random;
  }

  start(): void {
    const ways: Readonly<Record<FaultName, () => Promise<void> | void>> = {
      'child killed': () => this.kill(),
      'HTTP cut': () => this.cut(),
      'socket reset': () => this.reset(),
      'reader stalled': () => this.stall(),
      'token expired': () => this.expire(),
    };
    this.work = Promise.all(FAULTS.map((name) => this.inject(EVERY[name], ways[name])));
  }

  private async inject(every: number, way: () => Promise<void> | void): Promise<void> {
    while (!this.stopped) {
      await after(every);
      await way();
    }
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await this.work;
  }

  private kill(): void {
    const victim = this.random.oneOf(this.setting.children.busy);
    if (victim === undefined) return;
    this.calls.injected('child killed', victim.calls);
    process.kill(victim.pid, 'SIGKILL');
  }

  private cut(): void {
    const victim = this.random.oneOf(this.setting.web.flatMap(({ busy }) => [...busy]));
    if (victim === undefined) return;
    const [socket, text] = victim;
    this.calls.injected('HTTP cut', [text]);
    socket.resetAndDestroy();
  }

  private reset(): void {
    const victim = this.random.oneOf(this.workers.filter(({ raw, texts }) => raw !== undefined && texts.size > 0));
    victim?.reset();
  }

  /** Now for a moment, and all is answered; now for good, and the socket is given up. */
  private async stall(): Promise<void> {
    this.turn += 1;
    const isShort = this.turn % 2 === 0;
    const caller = await openRawCaller(this.port, 'handshake', 'stalled');
    const big = isShort ? { calls: 3, bytes: 60_000 } : STALLED;
    const { ended, texts } = this.bigCalls(caller, big.calls, big.bytes);
    caller.socket.pause();
    this.calls.injected('reader stalled', texts);
    await after(isShort ? 400 : 3500);
    caller.socket.resume();
    const ends = await ended;
    // Where the machine is so busy that the answers come later than the reader, it gets them all.
    if (!isShort && ends.some(({ kind }) => kind === 'lost')) {
      this.givenUp += 1;
      await this.gone(caller, 'stalled reader', [4430, 1006]);
    } else this.wrong.push(...caller.violations);
    caller.close();
  }

  private bigCalls(caller: RawCaller, count: number, bytes: number) {
    const texts = Array.from({ length: count }, () => this.calls.next());
    const ended = texts.map((text) =>
      this.calls.follow(text, caller.call('bulk__big', { text, bytes }), { size: bytes }),
    );
    return { ended: Promise.all(ended), texts };
  }

  /** A call goes over the end of its token, and is answered within the grace. */
  private async expire(): Promise<void> {
    const life = 3;
    const expiresAt = (Math.floor(Date.now() / 1000) + life + TOLERANCE) * 1000;
    const era = this.random.pick('handshake', 'modern');
    // On a machine that is very busy the token may be over before.
    const caller = await openRawCaller(this.port, era, 'expiring', life).catch(() => undefined);
    if (caller === undefined) return;
    await after(expiresAt - Date.now() - 400);
    const text = this.calls.next();
    const ended = this.calls.follow(text, caller.call('calm__slow', { text, ms: 1200 }));
    await after(expiresAt - Date.now() + 20);
    this.calls.injected('token expired', caller.inFlight > 0 ? [text] : []);
    await ended;
    await this.gone(caller, 'expired token', [4401]);
  }

  private async gone({ socket, violations }: RawCaller, whose: string, codes: readonly number[]): Promise<void> {
    await until(() => socket.ended !== undefined, (GRACE + 5) * 1000, 50);
    const code = socket.ended?.code;
    if (code === undefined || !codes.includes(code))
      this.wrong.push(`${whose}: the socket ended with ${code ?? 'nothing'}`);
    this.wrong.push(...violations);
    if (code === undefined) socket.cut();
  }
}
