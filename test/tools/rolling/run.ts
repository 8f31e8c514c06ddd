import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { readOptions } from '../trial/options.ts';
import { servePeer } from '../trial/peer-websocket.ts';
import { until } from '../trial/until.ts';
import { Client } from './client.ts';
import { Ledger } from './ledger.ts';
import { type Balancer, startBalancer, startRedis } from './programs.ts';
import { Replica } from './replica.ts';
import { judge } from './report.ts';

/**
 * `npm run rolling`: clients at work behind HAProxy while each of two gateways is restarted in turn. Prints what came of
 * each call and of each socket, and exits 1 unless all that test/tools/README.md promises was kept.
 */
const DEFAULTS = { clients: 200, seconds: 10 };
const CLIENTS_PER_PRINCIPAL = 10;
/** Milliseconds in which the balancer sees a replica again, and clients come back. */
const PATIENCE = 30_000;
/** All of it, in milliseconds. */
const LONGEST = 170_000;

type Task = () => Promise<unknown> | unknown;

const { given } = readOptions(DEFAULTS);
const ends: Task[] = [];
const clean = async () => {
  for (const task of ends.splice(0).reverse())
    await Promise.resolve()
      .then(task)
      .catch(() => {});
};
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => void clean().finally(() => process.exit(1)));
const overdue = after(LONGEST, undefined, { ref: false }).then(() => {
  throw new Error(`it takes longer than ${LONGEST / 1000} s`);
});

try {
  process.exitCode = await Promise.race([roll(), overdue]);
} catch (error) {
  process.stderr.write(`rolling: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
await clean();
process.exit();

async function roll(): Promise<number> {
  const from = performance.now();
  const ledger = new Ledger();
  const { replicas, balancer } = await surroundings(ledger);
  const clients = clientsOf(balancer.url, ledger);
  for (const client of clients) client.start();
  await allBack(clients, 'open');
  await after(given.seconds * 1000);
  ledger.phase = 'during';
  for (const replica of replicas) await restart(replica, balancer, clients);
  ledger.phase = 'after';
  await after(given.seconds * 1000);
  const back = clients.filter((client) => client.isConnected && client.results.has('after')).length;
  await Promise.all(clients.map((client) => client.stop()));
  await Promise.all(replicas.map((replica) => replica.stop()));
  const seconds = Math.round((performance.now() - from) / 1000);
  return judge({ ledger, replicas, clients: clients.length, back, seconds });
}

/** Redis, the upstream, two replicas and the balancer before them; all end with the run. */
async function surroundings(ledger: Ledger) {
  const scratch = mkdtempSync(join(tmpdir(), 'rolling-'));
  ends.push(() => rmSync(scratch, { recursive: true, force: true }));
  const redis = await startRedis(scratch);
  ends.push(() => redis.stop());
  const upstream = await servePeer('work', 'handshake', { began: (text) => ledger.took(text) });
  ends.push(() => upstream.close());
  const shared = { redis: redis.url, upstream: upstream.url };
  const replicas = [await Replica.at('one', shared), await Replica.at('two', shared)];
  for (const replica of replicas) {
    ends.push(() => replica.stop());
    await replica.start();
  }
  const balancer = await startBalancer(replicas, scratch);
  ends.push(() => balancer.stop());
  for (const { name } of replicas) await seenUp(balancer, name);
  return { replicas, balancer };
}

function clientsOf(url: string, ledger: Ledger): Client[] {
  return Array.from({ length: given.clients }, (_, at) => {
    const sub = `principal-${Math.floor(at / CLIENTS_PER_PRINCIPAL)}`;
    return new Client(url, sub, at % 2 === 0 ? 'handshake' : 'modern', ledger);
  });
}

/** Over when the new process is ready, the balancer sees it, and every client has a socket. */
async function restart(replica: Replica, balancer: Balancer, clients: readonly Client[]): Promise<void> {
  const before = await told(balancer);
  await replica.stop();
  await replica.start();
  await seenUp(balancer, replica.name);
  await allBack(clients, 'come back');
  process.stdout.write(`restarted ${replica.name}: connections before ${before}, after ${await told(balancer)}\n`);
}

async function seenUp(balancer: Balancer, name: string): Promise<void> {
  const isUp = async () => (await balancer.standing()).get(name)?.status === 'UP';
  if (!(await until(isUp, PATIENCE, 100))) throw new Error(`the balancer does not see replica ${name}`);
}

async function allBack(clients: readonly Client[], what: string): Promise<void> {
  if (await until(() => clients.every(({ isConnected }) => isConnected), PATIENCE, 50)) return;
  const missing = clients.filter(({ isConnected }) => !isConnected).length;
  process.stdout.write(`${missing} clients do not ${what} within ${PATIENCE / 1000} s\n`);
}

async function told(balancer: Balancer): Promise<string> {
  return [...(await balancer.standing())].map(([name, { sessions }]) => `${name} ${sessions}`).join(', ');
}
