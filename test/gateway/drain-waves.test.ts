import { expect, test } from 'vitest';
import { DRAINED } from '../support/drained.ts';
import { stdioUpstream } from '../support/gateway.ts';
import { textAnswer, toolCall } from '../support/messages.ts';
import { openRaw, type RawClient } from '../support/raw-client.ts';
import { serve } from '../support/serving.ts';

const SOCKETS = 500;
const CALLS = 50;
const WAVES_MS = 5000;
const IN_FLIGHT_MS = 15_000;
/** What stopping may take beside that (docs/operations.md). */
const STOPPING_MS = 10_000;
const CELL_MS = 500;

/** Opens so many sessions, a few at a time; a gateway that is busy for a moment is asked again. */
async function opened(url: string, count: number): Promise<RawClient[]> {
  const clients: RawClient[] = [];
  while (clients.length < count) {
    const few = Math.min(10, count - clients.length);
    const tried = await Promise.allSettled(Array.from({ length: few }, () => openRaw(url)));
    clients.push(...tried.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : [])));
  }
  return clients;
}

function histogram(times: readonly number[]): number[] {
  const cells = Array<number>(Math.ceil((Math.max(...times) + 1) / CELL_MS)).fill(0);
  for (const time of times) cells[Math.floor(time / CELL_MS)] = (cells[Math.floor(time / CELL_MS)] ?? 0) + 1;
  return cells;
}

function table(cells: readonly number[]): string {
  const rows = cells.map(
    (count, cell) => `${String((cell * CELL_MS) / 1000).padStart(5)} s ${String(count).padStart(4)}`,
  );
  return [
    `sockets closed after SIGTERM, ${SOCKETS} with ${CALLS} calls in flight, ${cells.length} cells`,
    ...rows,
  ].join('\n');
}

test('500 sockets go in waves, 50 calls in flight are all answered, and the gateway ends within the sum', async () => {
  const served = await serve({
    timing: { drain: { inFlight: `${IN_FLIGHT_MS}ms`, waves: `${WAVES_MS}ms` } },
    mcpServers: { up: stdioUpstream('plain.mjs', [], { isolation: 'shared' }) },
  });
  const clients = await opened(served.url, SOCKETS);
  // Spread over all of them; some end while the idle ones go, the others after the last of those.
  const busy = clients.filter((_, index) => index % (SOCKETS / CALLS) === 0);
  for (const [index, client] of busy.entries()) {
    client.send(toolCall(index, 'up__beat', { every: 1000 + 120 * index, times: 1 }, { progressToken: index }));
    expect(await client.barrier(`b${index}`)).toEqual([]);
  }
  const start = performance.now();
  const answers = Promise.all(
    busy.map(async (client) => {
      await client.json();
      return client.json();
    }),
  );
  const closes = clients.map(async ({ closed }) => ({ close: await closed, at: performance.now() - start }));
  const ended = served.stop('SIGTERM');
  const closed = await Promise.all(closes);
  const idleTimes = closed.filter((_, index) => index % (SOCKETS / CALLS) !== 0).map(({ at }) => at);
  const { code, tookMs } = await ended;
  console.log(`\n${table(histogram(closed.map(({ at }) => at)))}\n`);
  expect(await answers).toEqual(busy.map((_, index) => textAnswer(index, 'beat 1')));
  expect(closed.map(({ close }) => close)).toEqual(closed.map(() => DRAINED));
  expect(new Set(closed.map(({ close }) => close.reason)).size).toBeGreaterThan(100);
  const idle = histogram(idleTimes);
  // Evenly: 450 idle sockets in nine tenths of the waves are fifty a cell.
  expect(idle.length).toBeGreaterThanOrEqual(9);
  expect(Math.max(...idle)).toBeLessThan(100);
  expect(code).toBe(0);
  expect(tookMs).toBeLessThan(IN_FLIGHT_MS + WAVES_MS + STOPPING_MS);
}, 60_000);
