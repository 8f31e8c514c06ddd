import { setTimeout as after } from 'node:timers/promises';
import { GatewayProcess, type Gauges } from '../trial/gateway-process.ts';
import { handlesText, mib } from '../trial/growth.ts';
import { readOptions } from '../trial/options.ts';
import type { Held } from '../trial/probe.ts';
import { Random } from '../trial/random.ts';
import { Promises, printTable } from '../trial/table.ts';
import { until } from '../trial/until.ts';
import { Calls, type Cause, FAULTS } from './calls.ts';
import { Chaos } from './faults.ts';
import { openSetting } from './setting.ts';
import { makeWorkers } from './workers.ts';

/**
 * `npm run chaos`: clients at work in three rounds before one gateway while what is around it fails. Prints what came of
 * each call and exits 1 unless all that test/tools/README.md promises was kept.
 */
const ROUNDS = 3;
const FULL = { seconds: 300, injections: 20 };
const SHOWN = 20;
/** Milliseconds in which all that is in flight must have ended, once nothing new is asked. */
const PATIENCE = 30_000;
/** What RSS may grow by; a process that has run for seconds only is still growing into its heap. */
const MARGIN = { full: 0.1, shorter: 0.2 };

interface Round {
  readonly gauges: Gauges;
  readonly held: Held;
}

const { seed, given } = readOptions({ seconds: FULL.seconds });
const needed = Math.max(3, Math.floor((FULL.injections * given.seconds) / FULL.seconds));
process.stdout.write(`seed ${seed}, ${given.seconds} s in ${ROUNDS} rounds, Node ${process.version}\n\n`);

const setting = await openSetting();
const gateway = await GatewayProcess.start(setting.config);
const before = { gauges: await gateway.gauges(), held: await gateway.held() };
const calls = new Calls();
const wrong: string[] = [];
const rounds: Round[] = [];
let givenUp = 0;
for (let at = 0; at < ROUNDS && calls.unanswered.length === 0; at += 1)
  rounds.push(await round(`${seed}:${at}`, (1000 * given.seconds) / ROUNDS));
const { ended, complaints } = gateway;
process.exitCode = report();
await gateway.stop();
setting.close();
process.exit();

async function round(roundSeed: string, lasts: number): Promise<Round> {
  const workers = makeWorkers(gateway.port, calls, roundSeed);
  const chaos = new Chaos(gateway.port, setting, calls, workers, new Random(roundSeed));
  for (const worker of workers) worker.start();
  chaos.start();
  await after(lasts);
  const stopped = Promise.all([chaos.stop(), ...workers.map((worker) => worker.stop())]).then(() => true);
  if (!(await Promise.race([stopped, after(PATIENCE, false)])))
    wrong.push(`without an answer: ${calls.unanswered.join(', ')}`);
  givenUp += chaos.givenUp;
  wrong.push(...chaos.wrong, ...workers.flatMap(({ violations }) => violations));
  // What a child has in hand when its session goes is let go of by then.
  await until(() => setting.children.busy.length === 0, PATIENCE, 100);
  return { gauges: await gateway.settled(before.gauges), held: await gateway.heldLike(before.held) };
}

function report(): number {
  const promises = new Promises();
  printCalls();
  for (const fault of FAULTS) {
    const seen = calls.injections.get(fault) ?? 0;
    promises.check(seen >= needed, `${fault}: at least ${needed} injections, each into a call in flight`, String(seen));
  }
  promises.check(givenUp > 0, 'readers that stall for good are given up', `${givenUp} were`);
  const faults = [...calls.wrong, ...wrong];
  promises.check(
    faults.length === 0,
    'every call ends once, in its own result, a fair error, or with its socket',
    `${faults.length} do not`,
  );
  for (const fault of faults.slice(0, SHOWN)) process.stdout.write(`        ${fault}\n`);
  promises.check(calls.unanswered.length === 0, 'no call is left without an end', `${calls.unanswered.length} are`);
  promises.check(ended === undefined, 'the process lives', ended ?? 'it does');
  promises.check(complaints.length === 0, 'no error in the log', `${complaints.length} lines`);
  for (const line of complaints.slice(0, SHOWN)) process.stdout.write(`        ${line}\n`);
  judgeRounds(promises);
  return promises.exitCode;
}

function judgeRounds(promises: Promises): void {
  const gauges = [before, ...rounds].map((one) => JSON.stringify(one.gauges));
  promises.check(new Set(gauges).size === 1, 'gauges as before after each round', [...new Set(gauges)].join(' / '));
  const handles = [before, ...rounds].map((one) => handlesText(one.held));
  promises.check(new Set(handles).size === 1, 'handles and listeners as before', [...new Set(handles)].join(' / '));
  const [, second, third] = rounds.map(({ held }) => held.rss);
  const margin = given.seconds < FULL.seconds ? MARGIN.shorter : MARGIN.full;
  const isKept = second !== undefined && third !== undefined && third <= (1 + margin) * second;
  const sizes = rounds.map(({ held }) => `${mib(held.rss)} (heap ${mib(held.heap)})`).join(', ');
  promises.check(isKept, `RSS of the third round at most ${100 * margin} % over the second`, sizes);
}

function printCalls(): void {
  const causes: readonly Cause[] = ['nothing', ...FAULTS];
  const ends = [...new Set(causes.flatMap((cause) => [...calls.ended(cause).keys()]))].sort();
  const rows = causes.map((cause) => {
    const ended = calls.ended(cause);
    const all = [...ended.values()].reduce((sum, count) => sum + count, 0);
    const injections = cause === 'nothing' ? '' : (calls.injections.get(cause) ?? 0);
    return [cause, injections, all, ...ends.map((end) => ended.get(end) ?? 0)];
  });
  printTable(['calls hit by', 'injections', 'calls', ...ends], rows);
}
