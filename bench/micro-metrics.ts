import { Writable } from 'node:stream';
import { auditTo } from '../src/observe/audit.ts';
import { streamOut } from '../src/observe/audit-out.ts';
import { createLog } from '../src/observe/log.ts';
import { createMetrics } from '../src/observe/metrics.ts';
import type { AuditEvent } from '../src/ports/sink.ts';

const ROUNDS = 200_000;

/** CPU nanoseconds of one turn, the work it leaves for later included: the least of five runs. */
async function nanoseconds(turn: () => void): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 5; run += 1) {
    const started = process.cpuUsage();
    for (let done = 0; done < ROUNDS; done += 1000) {
      for (let n = 0; n < 1000; n += 1) turn();
      await new Promise((resolve) => setImmediate(resolve));
    }
    const { user, system } = process.cpuUsage(started);
    least = Math.min(least, ((user + system) * 1000) / ROUNDS);
  }
  return Math.round(least);
}

const { meter, close } = createMetrics({ version: '0', configHash: '0' });
const call = { method: 'tools/call', upstream: 'search' };
const requests = meter.counter('requests_total', { ...call, outcome: 'ok' });
const messagesIn = meter.counter('messages_total', { direction: 'in' });
const messagesOut = meter.counter('messages_total', { direction: 'out' });
const bytesIn = meter.counter('bytes_total', { direction: 'in' });
const bytesOut = meter.counter('bytes_total', { direction: 'out' });
const inflight = meter.gauge('inflight_requests', {});
const duration = meter.histogram('request_duration_seconds', call);
const overhead = meter.histogram('overhead_seconds', {});

/** What one relayed call touches. */
function count(): void {
  inflight.add(1);
  messagesIn.add();
  bytesIn.add(312);
  requests.add();
  duration.observe(0.0123);
  overhead.observe(0.00007);
  messagesOut.add();
  bytesOut.add(4711);
  inflight.add(-1);
}

const sink = new Writable({ write: (_chunk, _encoding, done) => done() });
const log = createLog({ level: 'silent' });
const audit = auditTo(streamOut(sink), true, { meter, log });
const event: AuditEvent = {
  time: Date.now(),
  event: 'call',
  session: 'c1f0a6b2',
  request: '42',
  issuer: 'https://idp.example.com/',
  id: 'ann@example.com',
  method: 'tools/call',
  upstream: 'search',
  target: 'find',
  decision: 'allow',
  rule: '2',
  outcome: 'ok',
  durationMs: 12.345,
  argumentKeys: ['query', 'limit'],
};

const results = {
  'metrics of a call (ns)': await nanoseconds(count),
  'one handle asked for (ns)': await nanoseconds(
    () => void meter.counter('requests_total', { ...call, outcome: 'ok' }),
  ),
  'audit event (ns)': await nanoseconds(() => audit.record(event)),
  'debug line not written (ns)': await nanoseconds(() => log.debug('quiet', { ...event })),
};
process.stdout.write(`${JSON.stringify(results, null, 2)}\n`);
await audit.close();
close();
