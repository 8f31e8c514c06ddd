import { loadavg } from 'node:os';
import { LARGE, modern, relayed, SMALL, shapes } from './calls.ts';
import { fanOut } from './fan-out.ts';
import { USUAL } from './gateways.ts';
import { idleSession } from './idle.ts';
import { againstMcpServer, againstServer } from './lists.ts';
import { PAIRS } from './pairs.ts';
import type { Row } from './row.ts';

/**
 * Prints one row per promise; exits 1 if one is broken. Words on the command line pick the rows whose names hold one of them.
 * CPU is that of the process under measurement alone.
 */
const ROWS: readonly (readonly [name: string, measure: () => Promise<Row>])[] = [
  ['relayed call / hand relay, 64 B, 16 in flight', () => relayed(SMALL)],
  ['relayed call / hand relay, 100 kB, 16 in flight', () => relayed(LARGE)],
  ['1,000 / 10 tools', () => shapes({ ...USUAL, child: ['1000', 'handshake'] }, USUAL)],
  ['500 / 1 idle sessions', () => shapes(USUAL, USUAL, 500)],
  ['200 / 2 glob rules', () => shapes({ ...USUAL, rules: 200 }, USUAL)],
  ['modern / handshake call, handshake upstream', () => modern('handshake')],
  ['modern / handshake call, upstreams alike', () => modern('modern')],
  ['lists: walk / SDK 1.x McpServer', againstMcpServer],
  ['lists: walk / SDK 1.x Server, same pages', againstServer],
  ['idle session, kB', idleSession],
  ['fan-out / bare broadcast + Redis round trip', fanOut],
];

const words = process.argv.slice(2);
const chosen = ROWS.filter(([name]) => words.length === 0 || words.some((word) => name.includes(word)));
if (chosen.length === 0) throw new Error(`no row is named so; there are: ${ROWS.map(([name]) => name).join('; ')}`);
const load = loadavg().map((value) => value.toFixed(1));
process.stdout.write(`Median of ${PAIRS} pairs. Node ${process.version}. Load average ${load.join(' ')}.\n`);
let broken = false;
for (const [name, measure] of chosen) {
  const { value, limit, detail } = await measure();
  const isKept = value <= limit;
  if (!isKept) broken = true;
  const columns = [name.padEnd(48), value.toFixed(3).padStart(7), `<= ${String(limit).padEnd(5)}`];
  process.stdout.write(`${columns.join(' ')} ${(isKept ? 'ok' : 'BROKEN').padEnd(7)} ${detail}\n`);
}
process.exit(broken ? 1 : 0);
