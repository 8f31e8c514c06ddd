import { expect, test } from 'vitest';
import type { Era } from '../../src/protocol/era.ts';
import { AnsweredError } from '../../src/protocol/errors.ts';
import { Children } from '../../src/upstream/children.ts';
import { Eras } from '../../src/upstream/eras.ts';
import type { Opening } from '../../src/upstream/link-options.ts';
import { Openings, type Wanted } from '../../src/upstream/openings.ts';
import { TimeOver } from '../../src/upstream/time-limit.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { linkOf } from '../support/fake-link.ts';
import { recordedLog, recordedMeter } from '../support/recorded.ts';

const ANSWER_MS = 2000;
const refused = new AnsweredError({ code: -32601, message: 'no' });
const later = () => new Promise(setImmediate);

/** Openings of links to one upstream whose processes take 2 s to answer a probe, and open by a handshake at once unless that `fails`. */
function upstream(childStartsPerSecond: number, speaks: Era = 'handshake', fails?: Error) {
  const clock = fakeClock();
  const log = recordedLog();
  const children = new Children({ children: 99, childrenPerPrincipal: 99, childStartsPerSecond }, clock);
  const eras = new Eras({ startTimeout: 9000, fixed: undefined }, { clock, log });
  const started: number[] = [];
  const attempt = async ({ era, within, over }: Opening) => {
    started.push(clock.elapsed());
    if (era === 'handshake' && speaks === era && fails === undefined) return linkOf(era);
    await new Promise<void>((resolve) => void clock.after(Math.min(within, ANSWER_MS), resolve));
    if (within < ANSWER_MS) throw new TimeOver(over);
    if (era === speaks && fails === undefined) return linkOf(era);
    throw fails ?? refused;
  };
  const openings = new Openings({
    maxLinks: 99,
    children,
    breaker: { failures: 1, open: 30_000, maxOpen: 60_000 },
    open: ({ signal }, turn) => eras.open(attempt, { signal, recheck: false, turn }),
    clock,
    log,
    links: recordedMeter().gauge('links', { upstream: 'up', isolation: 'session' }),
    random: Math.random,
  });
  const ended: string[] = [];
  const open = (principal = 'p', signal = new AbortController().signal) => {
    const events = { listChanged() {}, updated() {}, logged() {}, closed() {} };
    const wanted: Wanted = { session: 's', principal, events, capabilities: {}, signal };
    openings.link(wanted).then(
      () => ended.push('open'),
      (fault) => ended.push(fault.reason),
    );
  };
  const pass = async (ms: number) => {
    for (let past = 0; past <= ms; past += 100) {
      await later();
      clock.advance(Math.min(100, ms - past));
    }
    await later();
  };
  return { children, eras, started, ended, open, pass };
}

test('those who waited for another’s probe start their processes at the rate of all, not at once', async () => {
  const { started, ended, open, pass } = upstream(2);
  for (let n = 0; n < 7; n += 1) {
    open();
    await pass(300);
  }
  await pass(5000);
  expect(ended).toEqual(Array(7).fill('open'));
  const crowded = started.filter((at, n) => at - (started[n - 2] ?? Number.NEGATIVE_INFINITY) < 1000);
  expect([started.length, crowded]).toEqual([8, []]);
});

test('an opening that needs two processes has two turns', async () => {
  const { started, ended, open, pass, children } = upstream(1);
  open();
  await pass(1500);
  void children.turn('other', new AbortController().signal);
  await pass(400);
  expect(started).toEqual([0]);
  await pass(1000);
  expect([started, ended]).toEqual([[0, 2500], ['open']]);
});

test('the time until a turn comes is none of a probe’s, so nobody is taken for one who does not answer', async () => {
  const { children, eras, started, ended, open, pass } = upstream(1, 'modern');
  for (const other of ['a', 'b', 'c']) void children.turn(other, new AbortController().signal);
  open();
  await pass(3000);
  expect([ended, eras.known]).toEqual([[], undefined]);
  await pass(4000);
  expect([ended, eras.known, started]).toEqual([['open'], 'modern', [3000]]);
});

test('one without a turn fails, and its upstream is not to blame', async () => {
  const { children, started, ended, open, pass } = upstream(1);
  open();
  await pass(1900);
  for (const other of ['a', 'b', 'c', 'd']) void children.turn(other, new AbortController().signal);
  await pass(200);
  expect([started.length, ended]).toEqual([1, ['at_capacity']]);
  await pass(5000);
  open();
  await pass(3000);
  expect(ended).toEqual(['at_capacity', 'open']);
});

test('whose turn comes when others have failed meanwhile starts nothing', async () => {
  const { started, ended, open, pass, children } = upstream(1, 'handshake', new Error('the process exited'));
  open();
  await pass(3900);
  for (const other of ['a', 'b']) void children.turn(other, new AbortController().signal);
  open('q');
  await pass(3000);
  expect([started.length, ended]).toEqual([2, ['upstream_unavailable', 'upstream_unavailable']]);
});
