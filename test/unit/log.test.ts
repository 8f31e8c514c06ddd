import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createLog, type LogOptions } from '../../src/observe/log.ts';

function logInto(level: LogOptions['level'] = 'debug') {
  const lines: string[] = [];
  const destination = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  return { log: createLog({ level, destination }), lines, entry: (at = 0) => JSON.parse(lines[at] ?? 'null') };
}

const SECRET = 'hunter2-very-secret';

describe('log', () => {
  it('writes one line of JSON an event', () => {
    const { log, lines, entry } = logInto('info');
    log.debug('too_fine');
    log.info('upstream_up', { upstream: 'search', took: 12, nothing: undefined });
    log.child({ session: 's1' }).warn('slow_reader');
    expect(lines.map((line) => line.endsWith('\n') && line.indexOf('\n') === line.length - 1)).toEqual([true, true]);
    expect(entry()).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      event: 'upstream_up',
      upstream: 'search',
      took: 12,
    });
    expect(entry(1)).toMatchObject({ level: 'warn', event: 'slow_reader', session: 's1' });
  });

  it('keeps message, stack, code and the chain of causes of an error', () => {
    const { log, entry } = logInto();
    const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    const several = new AggregateError([refused], 'all addresses failed');
    log.error('dial_failed', { err: new TypeError('fetch failed', { cause: several }) });
    expect(entry().err).toMatchObject({
      type: 'TypeError',
      message: 'fetch failed',
      stack: expect.stringContaining('log.test.ts'),
      cause: {
        type: 'AggregateError',
        message: 'all addresses failed',
        errors: [{ type: 'Error', message: 'connect ECONNREFUSED', code: 'ECONNREFUSED' }],
      },
    });
  });

  it.each([
    'authorization',
    'Authorization',
    'Proxy-Authorization',
    'token',
    'access_token',
    'progressToken',
    'ticket',
    'headers',
    'env',
    'secret',
    'clientSecret',
    'password',
    'apiKey',
    'x-api-key',
    'cookie',
    'Set-Cookie',
    'arguments',
  ])('never prints the value under %s, at whatever place', (key) => {
    const { log, lines } = logInto();
    const secret = { [key]: { deep: SECRET } };
    const text = { [key]: SECRET };
    const err = Object.assign(new Error('refused', { cause: Object.assign(new Error('inner'), text) }), {
      request: text,
    });
    log.debug('top', text);
    log.info('nested', { a: { b: [secret, text] }, err });
    log.child(text).warn('of_a_child', { request: { more: secret } });
    log.error('in_an_error', { err: new AggregateError([err], 'all failed') });
    expect(lines.join('')).not.toContain(SECRET);
    expect(lines.join('').split('[redacted]').length - 1).toBeGreaterThanOrEqual(6);
    expect(lines).toHaveLength(4);
  });

  it('survives cycles, big integers, buffers and endless values', () => {
    const { log, lines, entry } = logInto();
    const ring: Record<string, unknown> = { name: 'ring' };
    ring.self = ring;
    ring.many = Array.from({ length: 50 }, () => ring);
    log.info('odd', { big: 2n ** 70n, bytes: Buffer.from(SECRET), text: 'x'.repeat(1e6), ring });
    expect(entry()).toMatchObject({ big: '1180591620717411303424', bytes: '[19 bytes]', ring: { name: 'ring' } });
    expect(lines.join('').length).toBeLessThan(100_000);
  });

  it('goes on when the reader has left (EPIPE)', async () => {
    const program = "require('node:fs').closeSync(0); console.log('closed'); setInterval(() => {}, 1000)";
    const reader = spawn(process.execPath, ['-e', program], { stdio: ['pipe', 'pipe', 'ignore'] });
    await once(reader.stdout, 'data');
    const log = createLog({ level: 'info', destination: reader.stdin });
    const failed = new Promise<void>((resolve) => void reader.stdin.once('close', resolve));
    log.info('nobody_reads');
    await failed;
    expect(reader.stdin.errored).toMatchObject({ code: 'EPIPE' });
    expect(() => log.info('still_nobody')).not.toThrow();
    reader.kill();
    await once(reader, 'exit');
  });

  it('loses lines rather than memory while nobody reads, and says how many', () => {
    const held: (() => void)[] = [];
    const lines: string[] = [];
    const destination = new Writable({
      decodeStrings: false,
      write(chunk: string, _encoding, done) {
        lines.push(chunk);
        held.push(done);
      },
    });
    const log = createLog({ level: 'info', destination });
    for (let n = 0; n < 1000; n += 1) log.info('long', { text: 'x'.repeat(10_000) });
    expect(destination.writableLength).toBeLessThan(4.1 * 1024 * 1024);
    while (destination.writableLength > 0) held.shift()?.();
    const kept = lines.length;
    log.info('after');
    while (destination.writableLength > 0) held.shift()?.();
    expect(JSON.parse(lines[kept] ?? '')).toMatchObject({ level: 'warn', event: 'log_lines_lost', count: 1000 - kept });
    expect(JSON.parse(lines[kept + 1] ?? '')).toMatchObject({ event: 'after' });
  });
});
