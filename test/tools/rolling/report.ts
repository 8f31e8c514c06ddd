import { Promises, printTable } from '../trial/table.ts';
import { type Ledger, PHASES, widestSecond } from './ledger.ts';
import { GONE_WITHIN, type Replica } from './replica.ts';

/**
 * Of all clients, those whose sockets may close, or come back, within one second: fifty a second is a quarter of them, and
 * hints are random. When a replica lets go of all its sockets at once it is half of them, then all.
 */
const WIDEST = 0.45;
const SHOWN = 20;

export interface Rolled {
  readonly ledger: Ledger;
  readonly replicas: readonly Replica[];
  readonly clients: number;
  /** Clients that had a socket and results at the end. */
  readonly back: number;
  readonly seconds: number;
}

/** Prints what was seen and what was promised; returns the exit code. */
export function judge({ ledger, replicas, clients, back, seconds }: Rolled): number {
  const promises = new Promises();
  print(ledger, replicas, seconds);
  const lost = ledger.total('untaken') + ledger.total('unanswered');
  const other = ledger.total('other');
  promises.check(other === 0, 'no error but those that may be tried again', `${other} others`);
  promises.check(
    ledger.total('unanswered') === 0,
    'no call that the upstream had taken is lost with its socket',
    `${lost} lost, ${ledger.total('unanswered')} of them taken`,
  );
  promises.check(
    ledger.wrong.length === 0,
    'every call is answered its own, and taken once',
    `${ledger.wrong.length} faults`,
  );
  for (const fault of ledger.wrong.slice(0, SHOWN)) process.stdout.write(`        ${fault}\n`);
  promises.check(back === clients, 'every client is back and its calls are answered', `${back} of ${clients}`);
  checkShares(promises, ledger, clients);
  for (const replica of replicas) checkReplica(promises, replica);
  return promises.exitCode;
}

function checkShares(promises: Promises, { closes, reconnects }: Ledger, clients: number): void {
  for (const [what, moments] of Object.entries({ closes, reconnects })) {
    const { count, share } = widestSecond(moments, clients);
    const limit = `at most ${percent(WIDEST)} of the clients' ${what} fall into one second`;
    promises.check(share <= WIDEST, limit, `${count} of ${moments.length}, ${percent(share)}`);
  }
}

function checkReplica(promises: Promises, { name, ends, complaints }: Replica): void {
  const isWell = ends.every(({ how, ms }) => how === 'exit code 0' && ms <= GONE_WITHIN);
  const seen = ends.map(({ how, ms }) => `${how} in ${(ms / 1000).toFixed(1)} s`).join(', ');
  promises.check(isWell && ends.length === 2, `${name} ends with 0 within ${GONE_WITHIN / 1000} s`, seen);
  promises.check(complaints.length === 0, `no error in the log of ${name}`, `${complaints.length} lines`);
  for (const line of complaints.slice(0, SHOWN)) process.stdout.write(`        ${line.slice(0, 500)}\n`);
}

function print(ledger: Ledger, replicas: readonly Replica[], seconds: number): void {
  const titles = ['', 'calls', 'results', 'retryable errors', 'other errors', 'lost with the socket'];
  const rows = PHASES.map((phase) => {
    const { calls, results, retryable, other, untaken, unanswered } = ledger.row(phase);
    return [phase, calls, results, retryable, other, untaken + unanswered];
  });
  process.stdout.write('\n');
  printTable(titles, rows);
  process.stdout.write(`errors: ${listed(ledger.reasons)}\nsockets: ${listed(ledger.codes)}\n`);
  const exits = replicas.map(({ name, ends }) => `${name} ${ends.map(({ how }) => how).join(', ')}`);
  process.stdout.write(`exits: ${exits.join('; ')}\nseconds: ${seconds}\n\n`);
}

function listed(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([what, count]) => `${what} ${count}`).join(', ') || 'none';
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
