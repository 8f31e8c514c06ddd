import { GatewayProcess, type Gauges } from '../trial/gateway-process.ts';
import { handlesText, mib, within } from '../trial/growth.ts';
import { readOptions } from '../trial/options.ts';
import type { Held } from '../trial/probe.ts';
import { Promises, printTable } from '../trial/table.ts';
import { Assailant } from './assault.ts';
import { Bystanders } from './bystanders.ts';
import type { Tally } from './conversation.ts';
import { Coverage } from './coverage.ts';
import { doorOf, openUpstreams, PARTS, type Part, type Upstreams } from './parts.ts';

/**
 * `npm run fuzz`: so many mutated frames, lines and upgrades against running gateways, while well-behaved clients work.
 * Prints tables and exits 1 unless all that test/tools/README.md promises was kept. `--part P` does one part alone,
 * `--seed S --part P --only N` repeats one job of it and shows its traffic.
 */
const LEAST_JSON = 0.3;
const SHOWN = 20;
const MIB = 1024 * 1024;

interface PartResult {
  readonly part: Part;
  readonly tally: Tally;
  readonly faults: readonly string[];
  readonly complaints: readonly string[];
  readonly ended: string | undefined;
  readonly calls: number;
  readonly wrong: readonly string[];
  readonly gauges: { readonly before: Gauges; readonly middle: Gauges; readonly after: Gauges };
  readonly held: { readonly before: Held; readonly middle: Held; readonly after: Held };
  readonly seconds: number;
}

const { seed, given } = readOptions({ count: 200_000, only: 0, part: 0 });
process.stdout.write(`seed ${seed}, ${given.count} mutants, Node ${process.version}\n\n`);
const upstreams = await openUpstreams();
const coverage = new Coverage();
process.exitCode = given.only > 0 ? await repeat() : await fuzz();
upstreams.close();
process.exit();

async function repeat(): Promise<number> {
  const part = PARTS[given.part - 1];
  if (part === undefined) throw new Error(`--part takes 1 to ${PARTS.length}`);
  const gateway = await startGateway(part, upstreams);
  const assailant = await Assailant.create(doorOf(part, gateway), part, gateway, seed);
  await assailant.only(given.only);
  await gateway.stop();
  const faults = [...assailant.faults, ...gateway.complaints];
  process.stdout.write(`\n${faults.join('\n')}\n${faults.length} faults\n`);
  return faults.length > 0 ? 1 : 0;
}

async function fuzz(): Promise<number> {
  const results: PartResult[] = [];
  const parts = PARTS.filter((_, at) => given.part === 0 || given.part === at + 1);
  const shares = parts.reduce((sum, { share }) => sum + share, 0);
  for (const part of parts) results.push(await fuzzPart(part, Math.ceil((given.count * part.share) / shares)));
  return report(results);
}

function startGateway(part: Part, { mcpServers }: Upstreams): Promise<GatewayProcess> {
  return GatewayProcess.start({ ...part.config, mcpServers }, { covered: true });
}

/** In two halves; between them, and at the end, every socket is closed and what is held is looked at. */
async function fuzzPart(part: Part, count: number): Promise<PartResult> {
  const startedAt = performance.now();
  const gateway = await startGateway(part, upstreams);
  const before = await gateway.gauges();
  const atStart = await gateway.held();
  const door = doorOf(part, gateway);
  const assailant = await Assailant.create(door, part, gateway, seed);
  const wrong: string[] = [];
  let calls = 0;
  const half = async (upTo: number) => {
    const bystanders = await Bystanders.start(door, ['pipe', 'socket', 'modern', 'web']);
    await assailant.upTo(upTo);
    await bystanders.stop();
    calls += bystanders.calls;
    wrong.push(...bystanders.wrong);
    return { gauges: await gateway.settled(before), held: await gateway.heldLike(atStart) };
  };
  const middle = await half(Math.ceil(count / 2));
  const after = await half(count);
  coverage.add(await gateway.covered());
  const { ended } = gateway;
  await gateway.stop();
  return {
    part,
    tally: assailant.tally,
    faults: assailant.faults,
    complaints: gateway.complaints,
    ended,
    calls,
    wrong,
    gauges: { before, middle: middle.gauges, after: after.gauges },
    held: { before: atStart, middle: middle.held, after: after.held },
    seconds: (performance.now() - startedAt) / 1000,
  };
}

function report(results: readonly PartResult[]): number {
  const promises = new Promises();
  printMutants(results);
  printCoverage();
  const sum = (of: (result: PartResult) => number) => results.reduce((total, result) => total + of(result), 0);
  const [mutants, json] = [sum(({ tally }) => total(tally).mutants), sum(({ tally }) => total(tally).json)];
  promises.check(mutants >= given.count, 'as many mutants as asked for', mutants.toLocaleString('en-US'));
  promises.check(json >= LEAST_JSON * mutants, 'valid JSON, at least 30 %', `${((100 * json) / mutants).toFixed(1)} %`);
  promises.check(upstreams.leaked() === 0, 'no call reaches what is denied', `${upstreams.leaked()} did`);
  for (const result of results) judge(result, promises);
  return promises.exitCode;
}

function judge({ part, faults, complaints, ended, calls, wrong, gauges, held }: PartResult, promises: Promises): void {
  const { name } = part;
  promises.check(ended === undefined, `${name}: the process lives`, ended ?? 'it does');
  listed(promises, `${name}: every id has one answer, every socket its due`, faults);
  listed(promises, `${name}: no error in the log`, complaints);
  listed(promises, `${name}: ${calls} calls of bystanders answered with their own answer`, wrong);
  const [before, middle, after] = [gauges.before, gauges.middle, gauges.after].map((one) => JSON.stringify(one));
  const isKept = before === middle && before === after;
  promises.check(isKept, `${name}: gauges as before`, isKept ? `${after}` : `${before} / ${middle} / ${after}`);
  const handles = [held.before, held.middle, held.after].map(handlesText);
  const isSame = new Set(handles).size === 1;
  promises.check(isSame, `${name}: handles and listeners as before`, isSame ? `${handles[0]}` : handles.join(' / '));
  const heap = within(held.middle.heap, held.after.heap, 0.1, 2 * MIB);
  promises.check(
    heap,
    `${name}: heap, at most 10 % or 2 MiB over half-time`,
    change(held.middle.heap, held.after.heap),
  );
  const rss = within(held.middle.rss, held.after.rss, 0.15, 15 * MIB);
  promises.check(rss, `${name}: RSS, at most 15 % or 15 MiB over half-time`, change(held.middle.rss, held.after.rss));
}

function listed(promises: Promises, promise: string, faults: readonly string[]): void {
  promises.check(faults.length === 0, promise, `${faults.length} faults`);
  for (const fault of faults.slice(0, SHOWN)) process.stdout.write(`        ${fault}\n`);
}

function change(before: number, after: number): string {
  return `${mib(before)} to ${mib(after)}`;
}

function printMutants(results: readonly PartResult[]): void {
  const rows = results.flatMap(({ part, tally, seconds }) => [
    ...[...tally].sort().map(([name, { mutants, json }]) => [part.name, name, mutants, json]),
    [part.name, `in all, ${seconds.toFixed(0)} s`, total(tally).mutants, total(tally).json],
  ]);
  printTable(['part', 'mutants', 'sent', 'valid JSON'], rows);
}

function printCoverage(): void {
  const folders = ['protocol', 'session'].map((folder) => coverage.of(folder));
  const percent = (some: number, all: number) => `${((100 * some) / all).toFixed(1)} %`;
  printTable(
    ['coverage under fuzz', 'lines', 'of', 'share', 'functions', 'of', 'share'],
    folders.map(({ folder, lines, linesRun, functions, functionsRun }) => [
      ...[`${folder}/`, linesRun, lines, percent(linesRun, lines)],
      ...[functionsRun, functions, percent(functionsRun, functions)],
    ]),
  );
  for (const { missed } of folders) process.stdout.write(`${missed.map((one) => `never ran: ${one}\n`).join('')}`);
  process.stdout.write('\n');
}

function total(tally: Tally): { mutants: number; json: number } {
  const all = { mutants: 0, json: 0 };
  for (const { mutants, json } of tally.values()) {
    all.mutants += mutants;
    all.json += json;
  }
  return all;
}
