import { CHILD, connect, type GatewayShape, startGateway } from './gateways.ts';
import { type Host, startHost } from './host.ts';
import { type Call, Load } from './load.ts';
import { compare, PAIRS, type Side } from './pairs.ts';

/** Prints one row per promise; exits 1 if one is broken. CPU is that of the process under measurement alone. */
interface Row {
  readonly name: string;
  readonly value: number;
  readonly limit: number;
  readonly detail: string;
}

const SMALL: Call = { tool: '', data: 'x'.repeat(64), calls: 4000, inFlight: 16 };
const LARGE: Call = { tool: '', data: 'x'.repeat(100_000), calls: 60, inFlight: 16 };
const USUAL: GatewayShape = { tools: 10, rules: 2 };
const IDLE_SESSIONS = 1000;

/** Microseconds of CPU per call. */
function cost(host: Host, load: Load, call: Call): Side {
  return async () => {
    const before = await host.report('cpu');
    await load.run(call);
    const after = await host.report('cpu');
    return (after.cpu - before.cpu) / call.calls;
  };
}

async function relayed(name: string, call: Call): Promise<Row> {
  const gateway = await startGateway(USUAL);
  const hand = await startHost('hand-relay', [CHILD, String(USUAL.tools)]);
  const through = cost(gateway, await connect(gateway), { ...call, tool: 'bench__echo3' });
  const floor = cost(hand, await Load.connect(hand.url), { ...call, tool: 'echo3' });
  const row = await ratio(`relayed call / hand relay, ${name}`, 1.5, through, floor);
  await Promise.all([gateway.stop(), hand.stop()]);
  return row;
}

async function shapes(name: string, more: GatewayShape, less: GatewayShape, idle = 0): Promise<Row> {
  const [large, small] = [await startGateway(more), await startGateway(less)];
  for (let opened = 0; opened < idle; opened += 1) await connect(large);
  const call = { ...SMALL, tool: 'bench__echo3' };
  const row = await ratio(name, 1.15, cost(large, await connect(large), call), cost(small, await connect(small), call));
  await Promise.all([large.stop(), small.stop()]);
  return row;
}

async function ratio(name: string, limit: number, a: Side, b: Side): Promise<Row> {
  const measured = await compare(a, b);
  const detail = `${measured.a.toFixed(1)} / ${measured.b.toFixed(1)} us CPU a call`;
  return { name, value: measured.median, limit, detail };
}

async function idleSession(): Promise<Row> {
  const gateway = await startGateway(USUAL);
  const first = await connect(gateway);
  await first.run({ ...SMALL, tool: 'bench__echo3', calls: 1000 });
  const before = await gateway.report('memory');
  for (let opened = 0; opened < IDLE_SESSIONS; opened += 1) await connect(gateway);
  const after = await gateway.report('memory');
  await gateway.stop();
  const value = (after.memory - before.memory) / IDLE_SESSIONS / 1000;
  return { name: 'idle session, kB', value, limit: 40, detail: `${IDLE_SESSIONS} sessions, after garbage collection` };
}

const rows = [
  await relayed('64 B, 16 in flight', SMALL),
  await relayed('100 kB, 16 in flight', LARGE),
  await shapes('1,000 / 10 tools', { tools: 1000, rules: 2 }, USUAL),
  await shapes('500 / 1 idle sessions', USUAL, USUAL, 500),
  await shapes('200 / 2 glob rules', { tools: 10, rules: 200 }, USUAL),
  await idleSession(),
];
const broken = rows.filter((row) => !(row.value <= row.limit));
process.stdout.write(`Median of ${PAIRS} pairs. Node ${process.version}.\n`);
for (const { name, value, limit, detail } of rows) {
  const verdict = value <= limit ? 'ok' : 'BROKEN';
  process.stdout.write(
    `${name.padEnd(42)} ${value.toFixed(2).padStart(7)}  <= ${String(limit).padEnd(5)} ${verdict.padEnd(7)} ${detail}\n`,
  );
}
process.exit(broken.length === 0 ? 0 : 1);
