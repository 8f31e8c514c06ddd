import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readFileSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { auditTo, createAudit } from '../../src/observe/audit.ts';
import { auditLine } from '../../src/observe/audit-line.ts';
import { streamOut } from '../../src/observe/audit-out.ts';
import { createMetrics, type Metrics } from '../../src/observe/metrics.ts';
import type { Fields, Log } from '../../src/ports/log.ts';
import type { AuditEvent } from '../../src/ports/sink.ts';
import { parseMetrics, sampleValue } from '../support/prometheus-text.ts';

const TIME = Date.UTC(2026, 0, 2, 3, 4, 5, 6);
const AUTH: AuditEvent = {
  time: TIME,
  event: 'auth',
  session: 's1',
  request: 's1',
  issuer: 'https://idp',
  id: 'ann',
  address: '2001:db8::7',
  via: 'tcp',
  decision: 'allow',
};
const CALL: AuditEvent = {
  time: TIME,
  event: 'call',
  session: 's1',
  request: '7',
  issuer: 'https://idp',
  id: 'ann',
  decision: 'allow',
  method: 'tools/call',
  upstream: 'search',
  target: 'find "it"\n',
  rule: '2',
  outcome: 'ok',
  durationMs: 12.34567,
  argumentKeys: ['query', 'limit'],
};

/** Far more than it takes, for a machine that is busy. */
const SOON = { timeout: 10_000 };

let folder = '';
let metrics: Metrics;
let events: string[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'audit-'));
  metrics = createMetrics({ version: '1', configHash: 'x' });
  events = [];
});

afterEach(() => {
  metrics.close();
  rmSync(folder, { recursive: true });
});

function deps() {
  const record = (event: string, _fields?: Fields) => void events.push(event);
  const log: Log = { debug: record, info: record, warn: record, error: record, child: () => log };
  return { meter: metrics.meter, log };
}

async function dropped() {
  return sampleValue(parseMetrics((await metrics.expose()).text), 'mcp_gateway_audit_dropped_total');
}

/** A stream that takes a chunk and is done with it when told. */
function heldStream() {
  const chunks: string[] = [];
  const held: ((error?: Error) => void)[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      chunks.push(String(chunk));
      held.push(done);
    },
  });
  return { stream, chunks, release: () => held.shift()?.() };
}

describe('audit', () => {
  it('appends one line of JSON an event to the file', async () => {
    const file = join(folder, 'audit.jsonl');
    for (const event of [AUTH, CALL]) {
      const audit = createAudit({ sink: { file }, arguments: 'keys' }, deps());
      audit.record(event);
      await audit.close();
    }
    expect(readFileSync(file, 'utf8')).toBe(
      '{"time":"2026-01-02T03:04:05.006Z","event":"auth","session":"s1","request":"s1","issuer":"https://idp","id":"ann","address":"2001:db8::7","via":"tcp","decision":"allow"}\n' +
        '{"time":"2026-01-02T03:04:05.006Z","event":"call","session":"s1","request":"7","issuer":"https://idp","id":"ann",' +
        '"method":"tools/call","upstream":"search","target":"find \\"it\\"\\n","decision":"allow","rule":"2","outcome":"ok",' +
        '"durationMs":12.346,"argumentKeys":["query","limit"]}\n',
    );
    expect(await dropped()).toBe(0);
  });

  it('writes exactly what JSON.stringify would, whatever the texts', () => {
    const word = fc.string({ unit: 'binary', maxLength: 20 });
    fc.assert(
      fc.property(word, word, fc.array(word), fc.integer({ min: 0, max: 4e12 }), (id, target, argumentKeys, time) => {
        const { durationMs, argumentKeys: _keys, ...event } = { ...CALL, id, target, time };
        const expected = { ...event, time: new Date(time).toISOString(), argumentKeys };
        expect(JSON.parse(auditLine({ ...event, argumentKeys }, true))).toEqual(expected);
      }),
    );
  });

  it('leaves argument keys out when told, and bounds what callers sent', async () => {
    const file = join(folder, 'audit.jsonl');
    const quiet = createAudit({ sink: { file }, arguments: 'none' }, deps());
    quiet.record(CALL);
    await quiet.close();
    const audit = createAudit({ sink: { file }, arguments: 'keys' }, deps());
    const keys = Array.from({ length: 1000 }, (_, n) => `${n}`.padEnd(10_000, 'x'));
    audit.record({ ...CALL, target: 'y'.repeat(1e6), argumentKeys: keys, time: Number.NaN });
    await audit.close();

    const [first, second] = readFileSync(file, 'utf8').trim().split('\n');
    expect(JSON.parse(first ?? '')).not.toHaveProperty('argumentKeys');
    const line = JSON.parse(second ?? '');
    expect(line.time).toBe('1970-01-01T00:00:00.000Z');
    expect(line.target).toBe(`${'y'.repeat(2048)}…`);
    expect(line.argumentKeys).toHaveLength(65);
    expect((second ?? '').length).toBeLessThan(140_000);
  });

  it('writes without being closed, and every event once and in order', async () => {
    const { stream, chunks, release } = heldStream();
    const audit = auditTo(streamOut(stream), true, deps());
    audit.record({ ...CALL, request: '0' });
    await expect.poll(() => chunks.length, SOON).toBe(1);
    for (let n = 1; n < 2000; n += 1) audit.record({ ...CALL, request: String(n) });
    release();
    await expect.poll(() => chunks.length, SOON).toBe(2);
    release();
    audit.record({ ...CALL, request: '2000' });
    await expect.poll(() => chunks.length, SOON).toBe(3);
    release();
    await audit.close();
    const requests = chunks
      .join('')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).request);
    expect(requests).toEqual(Array.from({ length: 2001 }, (_, n) => String(n)));
    expect(stream.listenerCount('error')).toBe(0);
    expect(stream.listenerCount('drain')).toBe(0);
  });

  it('drops and counts what a sink that never drains cannot take, says so once, and closes in time', async () => {
    const { stream, chunks } = heldStream();
    const audit = auditTo(streamOut(stream), true, deps());
    for (let n = 0; n < 40_000; n += 1) audit.record(CALL);
    const line = JSON.stringify({ ...CALL, time: new Date(TIME), durationMs: 12.346 }).length + 1;
    const kept = Math.floor((4 * 1024 * 1024) / line);
    expect(await dropped()).toBe(40_000 - kept);
    expect(events).toEqual(['audit_dropping']);

    const started = performance.now();
    await audit.close();
    expect(performance.now() - started).toBeLessThan(3000);
    expect(chunks).toHaveLength(1);
    expect(await dropped()).toBe(40_000);
    expect(events).toEqual(['audit_dropping', 'audit_lost_at_close']);
    audit.record(CALL);
    expect(await dropped()).toBe(40_001);
  });

  it('takes events again once the sink has drained', async () => {
    const { stream, chunks, release } = heldStream();
    const audit = auditTo(streamOut(stream), true, deps());
    for (let n = 0; n < 40_000; n += 1) audit.record(CALL);
    const lost = await dropped();
    release();
    await expect.poll(() => chunks.length, SOON).toBe(2);
    release();
    await expect.poll(() => events, SOON).toEqual(['audit_dropping', 'audit_dropping_ended']);
    audit.record(AUTH);
    await expect.poll(() => chunks.length, SOON).toBe(3);
    release();
    await audit.close();
    expect(chunks[2]).toContain('"event":"auth"');
    expect(await dropped()).toBe(lost);
  });

  it('goes on when its reader has left, and counts what was not taken', async () => {
    const stream = new Writable({ write: (_chunk, _encoding, done) => done(new Error('EPIPE')) });
    const audit = auditTo(streamOut(stream), true, deps());
    audit.record(CALL);
    await expect.poll(() => events, SOON).toEqual(['audit_failing']);
    audit.record(CALL);
    await audit.close();
    expect(await dropped()).toBe(2);
    expect(events).toEqual(['audit_failing', 'audit_lost_at_close']);
  });

  it('waits for a named pipe whose reader is slow, losing nothing', async () => {
    const fifo = join(folder, 'fifo');
    execFileSync('mkfifo', [fifo]);
    const reader = openSync(fifo, constants.O_RDONLY | constants.O_NONBLOCK);
    const audit = createAudit({ sink: { file: fifo }, arguments: 'keys' }, deps());
    for (let n = 0; n < 1000; n += 1) audit.record({ ...CALL, request: String(n) });
    let text = '';
    await expect
      .poll(() => {
        text += readAvailable(reader);
        return text.split('\n').length;
      }, SOON)
      .toBe(1001);
    await audit.close();
    closeSync(reader);
    expect(
      text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).request),
    ).toEqual(Array.from({ length: 1000 }, (_, n) => String(n)));
    expect(events).toEqual([]);
    expect(await dropped()).toBe(0);
  });

  it('refuses in one sentence a file that cannot be opened', () => {
    const file = join(folder, 'no', 'audit.jsonl');
    expect(() => createAudit({ sink: { file }, arguments: 'keys' }, deps())).toThrow(
      new Error(`the audit file ${file} cannot be opened (ENOENT) (audit.sink.file)`),
    );
  });

  it('does nothing when off', async () => {
    const audit = createAudit({ sink: 'off', arguments: 'keys' }, deps());
    audit.record(CALL);
    await audit.close();
    expect(await dropped()).toBe(0);
  });
});

/** What a non-blocking descriptor has now, at most a pipe's worth. */
function readAvailable(fd: number): string {
  const chunk = Buffer.alloc(64 * 1024);
  try {
    return chunk.toString('latin1', 0, readSync(fd, chunk));
  } catch {
    return '';
  }
}
