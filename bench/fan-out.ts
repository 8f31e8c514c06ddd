import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as after } from 'node:timers/promises';
import WebSocket from 'ws';
import { doorOf, startReplica } from './gateways.ts';
import type { Host } from './host.ts';
import { PREFIX } from './names.ts';
import { type Redis, startRedis } from './redis.ts';
import type { Row } from './row.ts';
import { openSocket, paramsText, requestText } from './socket.ts';

const SESSIONS = Number(process.env.BENCH_SESSIONS ?? 500);
const URI = 'bench://news';
const FRAME = '{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"bench://news"}}';
const PAIRS = 7;
/** Changes a run, the first of them to warm up. */
const CHANGES = 20;
const WARM_UP = 5;
/** Between two changes. A replica that has just published waits before it does again: its own sessions would be served before the clock starts. */
const APART_MS = 50;
const TOUCH = requestText('"touch"', 'tools/call', paramsText({ name: `${PREFIX}touch` }, 'handshake'));

/**
 * One change on one of two replicas: until every session of both has its frame, from the moment it was published, against
 * two bare processes that send the same bytes to as many sockets, plus a round trip to Redis.
 */
export async function fanOut(): Promise<Row> {
  const redis = await startRedis();
  const replicas = [await startReplica(redis.url), await startReplica(redis.url)];
  const bare = [await startBroadcaster(), await startBroadcaster()];
  try {
    const gateway = await gatewaySide(redis, replicas);
    const floor = await bareSide(bare);
    const runs: { ours: number; bare: number }[] = [];
    for (let pair = 0; pair < PAIRS; pair += 1) {
      const ours = await run(gateway);
      runs.push({ ours, bare: (await run(floor)) + (await redis.roundTrip(100)) });
    }
    const detail = `p99 ${median(runs.map(({ ours }) => ours)).toFixed(2)} / ${median(runs.map((each) => each.bare)).toFixed(2)} ms, ${SESSIONS} sessions on two replicas`;
    return { value: median(runs.map((each) => each.ours / each.bare)), limit: 2, detail };
  } finally {
    for (const host of [...replicas, ...bare]) await host.stop();
    await redis.stop();
  }
}

/** Sets off a change and returns the milliseconds until each session had its frame. */
type Side = () => Promise<readonly number[]>;

/** The mean of the changes' p99. */
async function run(side: Side): Promise<number> {
  const found: number[] = [];
  for (let change = 0; change < CHANGES; change += 1) {
    await after(APART_MS);
    const took = (await side()).toSorted((a, b) => a - b);
    if (change >= WARM_UP) found.push(took[Math.ceil(took.length * 0.99) - 1] ?? Number.NaN);
  }
  return found.reduce((sum, each) => sum + each, 0) / found.length;
}

async function gatewaySide(redis: Redis, replicas: readonly Host[]): Promise<Side> {
  const doors = await Promise.all(replicas.map(doorOf));
  const sockets: WebSocket[] = [];
  for (const door of doors) {
    for (let opened = 0; opened < SESSIONS / doors.length; opened += 1) {
      const socket = await openSocket(door, 'handshake');
      socket.send(requestText('"subscribe"', 'resources/subscribe', paramsText({ uri: URI }, 'handshake')));
      const [answer] = await once(socket, 'message');
      if (!('result' in JSON.parse(String(answer)))) throw new Error(`a subscription was refused: ${answer}`);
      sockets.push(socket);
    }
  }
  const [door] = doors;
  if (door === undefined) throw new Error('there is no replica');
  const caller = await openSocket(door, 'handshake');
  let published: (at: bigint) => void = () => {};
  await redis.watch((at) => published(at));
  return async () => {
    const at = new Promise<bigint>((resolve) => {
      published = resolve;
    });
    const frames = all(sockets);
    caller.send(TOUCH);
    return since(await at, await frames);
  };
}

async function bareSide(hosts: readonly Broadcaster[]): Promise<Side> {
  const sockets: WebSocket[] = [];
  for (const { url } of hosts) {
    for (let opened = 0; opened < SESSIONS / hosts.length; opened += 1) {
      const socket = new WebSocket(url, { perMessageDeflate: false });
      await once(socket, 'open');
      sockets.push(socket);
    }
  }
  return async () => {
    const frames = all(sockets);
    const began = await Promise.all(hosts.map((host) => host.send(FRAME)));
    const [first = 0n] = began.toSorted((a, b) => Number(a - b));
    return since(first, await frames);
  };
}

/** When each socket has read its frame. */
function all(sockets: readonly WebSocket[]): Promise<readonly bigint[]> {
  return Promise.all(
    sockets.map(async (socket) => {
      const [data] = await once(socket, 'message');
      const at = process.hrtime.bigint();
      if (String(data) !== FRAME) throw new Error(`a frame differs: ${data}`);
      return at;
    }),
  );
}

function since(start: bigint, times: readonly bigint[]): number[] {
  return times.map((at) => Number(at - start) / 1e6);
}

interface Broadcaster {
  readonly url: string;
  /** Resolves with when it began. */
  send(text: string): Promise<bigint>;
  stop(): Promise<void>;
}

async function startBroadcaster(): Promise<Broadcaster> {
  const child = fork('dist-tools/bench/hosts/broadcast.js', { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const [{ url }] = await once(child, 'message');
  return {
    url: String(url),
    send: async (text) => {
      child.send(text);
      const [{ began }] = await once(child, 'message');
      return BigInt(began);
    },
    stop: async () => {
      const gone = once(child, 'exit');
      child.disconnect();
      await gone;
    },
  };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
