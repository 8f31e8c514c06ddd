import { readFileSync } from 'node:fs';
import { request as requestPlain } from 'node:http';
import { request as requestTls } from 'node:https';
import { text } from 'node:stream/consumers';
import { setTimeout as after } from 'node:timers/promises';
import { Client, refused } from './prometheus-client.ts';
import type { Replica, Setting } from './prometheus-setting.ts';

export interface Load {
  /** Rounds done so far on each replica. */
  readonly rounds: number;
  /** What went otherwise than it should; the load goes on. */
  readonly faults: readonly string[];
  stop(): Promise<void>;
}

/** Makes everything happen that a metric counts, round after round on each replica, until it is stopped. */
export function startLoad(setting: Setting): Load {
  const faults: string[] = [];
  const load = { rounds: 0, isOver: false };
  const noting = (what: string, step: () => Promise<unknown>) =>
    step().catch((error: unknown) => void faults.push(`${what}: ${error instanceof Error ? error.message : error}`));
  const working = setting.replicas.map(async (replica) => {
    for (let round = 0; !load.isOver; round += 1) {
      await Promise.all(
        Object.entries(STEPS).map(([name, step]) => noting(name, () => step({ ...setting, replica, round }))),
      );
      load.rounds = Math.max(load.rounds, round + 1);
      await after(500);
    }
  });
  return {
    get rounds() {
      return load.rounds;
    },
    faults,
    stop: async () => {
      load.isOver = true;
      await Promise.all(working);
    },
  };
}

interface Round extends Setting {
  readonly replica: Replica;
  readonly round: number;
}

const STEPS: Readonly<Record<string, (round: Round) => Promise<void>>> = {
  calls,
  flood,
  refusals,
  tickets,
  stalled,
  'changes from outside': changesFromOutside,
  'lost upstream': lostUpstream,
};

/** Answers of every outcome, and an answer nobody waits for. */
async function calls({ replica, issuer }: Round): Promise<void> {
  const client = await Client.open(replica.url, await issuer.token('caller'));
  client.send({ id: 4711, result: {} });
  await Promise.all([
    client.call('demo__echo', { text: 'hello' }),
    client.call('plain__echo', { text: 'hello' }),
    client.call('remote__echo', { text: 'hello' }),
    client.call('remote__fail'),
    client.call('nobody__has_this'),
    client.call('plain__pid'),
    client.call('plain__wait'),
    client.ask('tools/list'),
    client.ask('ping'),
  ]);
  await client.close();
}

/** More than its principal may send. */
async function flood({ replica, issuer }: Round): Promise<void> {
  const client = await Client.open(replica.url, await issuer.token('flood'));
  await Promise.all(Array.from({ length: 150 }, () => client.ask('ping')));
  await client.close();
}

async function refusals({ replica, issuer }: Round): Promise<void> {
  const [head, , signature] = (await issuer.token()).split('.');
  const claims = Buffer.from('{"iss":"https://elsewhere.example/"}').toString('base64url');
  const [, good] = (await issuer.token()).split('.');
  await refused(replica.url);
  await refused(replica.url, { host: 'elsewhere.example' });
  await refused(replica.url, { authorization: `Bearer ${head}.${claims}.${signature}` });
  await refused(replica.url, { authorization: `Bearer ${head}.${good}.AAAA` });
}

async function tickets({ replica, issuer }: Round): Promise<void> {
  const url = `${replica.url.replace(/^ws/, 'http')}/tickets`;
  const answer = JSON.parse(await post(url, await issuer.token('page')));
  const client = await Client.open(`${replica.url}?ticket=${answer.ticket}`, undefined);
  await client.close();
  await refused(`${replica.url}?ticket=${answer.ticket}`);
  await post(url, 'no token');
}

/** A client that does not read: results fill its outbox, list changes are dropped, and then its socket is closed. */
async function stalled({ replica, issuer, round }: Round): Promise<void> {
  if (round % 5 !== 0) return;
  const client = await Client.open(replica.url, await issuer.token('stalled'));
  const other = await Client.open(replica.url, await issuer.token('toggler'));
  client.socket.pause();
  for (let n = 0; n < 20; n += 1) client.begin('tools/call', { name: 'plain__big', arguments: { bytes: 1_000_000 } });
  for (let n = 0; n < 6; n += 1) {
    await after(400);
    await other.call('demo__toggle');
  }
  await after(4000);
  client.socket.terminate();
  await other.close();
}

async function changesFromOutside({ replica, adminToken }: Round): Promise<void> {
  await post(replica.admin, adminToken, '{"kind":"tools","upstream":"remote"}');
  await post(replica.admin, 'another-token-that-is-long-enough-for-one', '{"kind":"tools"}');
}

/** Kills the child that holds the lists of the stdio upstream: the first that the gateway has. */
async function lostUpstream({ replica, round }: Round): Promise<void> {
  if (round !== 1) return;
  const [child] = readFileSync(`/proc/${replica.pid}/task/${replica.pid}/children`, 'utf8').split(' ');
  if (child !== undefined && child !== '') process.kill(Number(child), 'SIGKILL');
}

function post(url: string, token: string, body?: string): Promise<string> {
  const request = url.startsWith('https') ? requestTls : requestPlain;
  const headers = {
    authorization: `Bearer ${token}`,
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  };
  return new Promise((resolve, reject) => {
    const options = { method: 'POST', headers, agent: false, rejectUnauthorized: false, timeout: 10_000 };
    const outgoing = request(url, options, (response) => text(response).then(resolve, reject));
    outgoing.once('timeout', () => outgoing.destroy(new Error(`${url} did not answer`)));
    outgoing.once('error', reject);
    outgoing.end(body);
  });
}
