import { describe, expect, it } from 'vitest';
import { openChild } from '../support/stdio/child.ts';
import { realClock } from '../support/stdio/recorders.ts';

const MIB = 1024 * 1024;

describe('lines of a stdio child', () => {
  it('are passed on unjudged, noise included, without empty ones', async () => {
    const { send, receiver } = await openChild();
    send('raw', { text: 'Server listening\n\n{"jsonrpc":"2.0","method":"a"}\r\n[1]\n' });
    expect([await receiver.next(), await receiver.next(), await receiver.next()]).toEqual([
      'Server listening',
      '{"jsonrpc":"2.0","method":"a"}',
      '[1]',
    ]);
  });

  it('cost CPU time in proportion to their size', async () => {
    const { call } = await openChild();
    const cpuOf = async (bytes: number) => {
      const costs: number[] = [];
      for (let run = 0; run < 4; run += 1) {
        const from = process.cpuUsage();
        const { text } = await call('large', { bytes });
        const { user, system } = process.cpuUsage(from);
        expect(String(text)).toHaveLength(bytes);
        costs.push(user + system);
      }
      return Math.min(...costs);
    };
    const small = await cpuOf(4 * MIB);
    expect((await cpuOf(12 * MIB)) / small).toBeLessThan(8);
  });

  it.each([true, false])('over the limit fail only the request they answer, id first: %s', async (idFirst) => {
    const { call, send, receiver, entries } = await openChild({ maxMessage: 100_000 });
    await call('large', { bytes: 90_000, idFirst });
    const id = send('large', { bytes: 3 * MIB, idFirst });
    const { pid } = await call('pid');
    expect(pid).toBeTypeOf('number');
    expect(receiver.failures).toHaveLength(1);
    const failed = await receiver.nextFailure();
    expect(failed).toMatchObject({ id, failure: { reason: 'too_large', cause: expect.any(Error) } });
    expect(entries.map(({ event }) => event)).toContain('upstream_line_too_long');
  });

  it('over the limit that answer nothing are logged, and the channel goes on', async () => {
    const { call, send, receiver, entries } = await openChild({ maxMessage: 1000 });
    send('raw', { text: `${'noise '.repeat(1000)}\n` });
    await call('pid');
    expect(receiver.failures).toEqual([]);
    expect(entries).toContainEqual({
      event: 'upstream_line_too_long',
      fields: { upstream: 'child', pid: expect.any(Number), bytes: 6000, limit: 1000 },
    });
  });
});

describe('stderr of a stdio child', () => {
  const stderrLines = (entries: { event: string; fields: Record<string, unknown> }[]) =>
    entries.filter(({ event }) => event === 'upstream_stderr').map(({ fields }) => fields.line);

  it('goes to the log, 20 lines a second, the rest counted and said once', async () => {
    let now = 0;
    const { call, entries } = await openChild({ clock: { ...realClock, elapsed: () => now } });
    const logged = () => entries.filter(({ event }) => event.startsWith('upstream_stderr'));
    await call('stderr', { text: Array.from({ length: 500 }, (_, n) => `line ${n}\n`).join('') });
    await expect.poll(() => logged().length).toBe(20);
    now = 1000;
    await call('stderr', { text: 'later\n' });
    await expect.poll(() => logged().length).toBe(22);
    expect(stderrLines(entries)).toEqual([...Array.from({ length: 20 }, (_, n) => `line ${n}`), 'later']);
    expect(logged()[20]).toMatchObject({ event: 'upstream_stderr_dropped', fields: { lines: 480 } });
  });

  it('is cut to 2 KiB a line', async () => {
    const { call, entries } = await openChild();
    await call('stderr', { text: `${'y'.repeat(50_000)}\n` });
    await expect.poll(() => stderrLines(entries)).toEqual(['y'.repeat(2048)]);
  });
});
