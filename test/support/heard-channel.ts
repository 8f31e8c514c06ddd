import { expect } from 'vitest';
import { systemClock } from '../../src/observe/clock.ts';
import type { Cancel, Clock } from '../../src/ports/clock.ts';
import type { Channel, ChannelFailure, Dial } from '../../src/ports/transport.ts';
import { dialStreamableHttp, type StreamableHttpOptions } from '../../src/upstream/streamable-http.ts';
import { fakeClock } from './fake-clock.ts';
import { INITIALIZE, INITIALIZED } from './http-upstream.ts';
import { type Line, recordedLog } from './recorded.ts';

/** A channel and all it has said, in order. */
export interface HeardChannel {
  readonly channel: Channel;
  readonly messages: string[];
  readonly failures: Array<{ id: number } & ChannelFailure>;
  readonly closed: Array<Error | undefined>;
  /** Everything in one order: a message's text, `failed <id> <reason>`, `closed`. */
  readonly order: string[];
}

export async function hear(dial: Dial): Promise<HeardChannel> {
  const heard: Omit<HeardChannel, 'channel'> = { messages: [], failures: [], closed: [], order: [] };
  const receiver = {
    message: (text: string) => {
      heard.messages.push(text);
      heard.order.push(text);
    },
    failed: (id: number, failure: ChannelFailure) => {
      heard.failures.push({ id, ...failure });
      heard.order.push(`failed ${id} ${failure.reason}`);
    },
    closed: (cause?: Error) => {
      heard.closed.push(cause);
      heard.order.push('closed');
    },
  };
  const channel = await dial(receiver, new AbortController().signal);
  return { channel, ...heard };
}

export interface HeardUpstream extends HeardChannel {
  readonly lines: readonly Line[];
}

/** Dials `url` with our client transport; nothing is sent yet. */
export async function hearHttp(
  url: string,
  options: Partial<StreamableHttpOptions> = {},
  clock: Clock = systemClock(),
): Promise<HeardUpstream> {
  const log = recordedLog();
  const dial = dialStreamableHttp(
    { url, headers: {}, maxMessage: 1_000_000, ...options },
    { log, clock, upstream: 'up' },
  );
  return { ...(await hear(dial)), lines: log.lines };
}

/** As `hearHttp`, with `initialize` answered and `notifications/initialized` sent. */
export async function openHttp(...args: Parameters<typeof hearHttp>): Promise<HeardUpstream> {
  const heard = await hearHttp(...args);
  heard.channel.send(INITIALIZE, 1);
  await expect.poll(() => heard.messages.length).toBe(1);
  heard.channel.send(INITIALIZED);
  return heard;
}

/** Limits so long that every shorter wait is one before a reconnect. */
export const FAR_LIMITS = { connect: 1e9, acknowledge: 1e9, linger: 1e9, settle: 1e9, farewell: 1e9 };

/** Lets the one wait before a reconnect pass, once it is begun, and says how long it was. */
export async function passReconnectWait(clock: ReturnType<typeof watchedClock>): Promise<number> {
  const short = () => clock.waits().filter((ms) => ms < 1e9);
  await expect.poll(short).toHaveLength(1);
  const [wait = 0] = short();
  clock.advance(wait);
  return wait;
}

/** Time that passes by `advance` only and says what is waited for now, in milliseconds. */
export function watchedClock(): Clock & { advance(ms: number): void; waits(): number[] } {
  const clock = fakeClock();
  const waits = new Map<symbol, number>();
  const after = (ms: number, task: () => void): Cancel => {
    const key = Symbol('wait');
    waits.set(key, ms);
    const cancel = clock.after(ms, () => {
      waits.delete(key);
      task();
    });
    return () => {
      waits.delete(key);
      cancel();
    };
  };
  return { ...clock, after, waits: () => [...waits.values()] };
}
