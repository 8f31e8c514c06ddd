import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Ops, type OpsDeps, startOps } from '../../src/http/ops.ts';
import { createMetrics, type Metrics } from '../../src/observe/metrics.ts';
import type { Fields, Log } from '../../src/ports/log.ts';
import { parseMetrics, sampleValue } from '../support/prometheus-text.ts';

let metrics: Metrics;
let ready = true;
let logged: [string, Fields | undefined][] = [];
const opened: Ops[] = [];

beforeEach(() => {
  metrics = createMetrics({ version: '1.0.0', configHash: 'abc' });
  ready = true;
  logged = [];
});

afterEach(async () => {
  await Promise.all(opened.splice(0).map((ops) => ops.close()));
  metrics.close();
});

function recordingLog(): Log {
  const record = (event: string, fields?: Fields) => void logged.push([event, fields]);
  return { debug: record, info: record, warn: record, error: record, child: recordingLog };
}

async function start(deps: Partial<OpsDeps> = {}, port = 0): Promise<string> {
  const readiness = () => ({ ready, detail: { upstreams: { search: ready ? 'up' : 'starting' } } });
  const ops = await startOps(
    { host: '127.0.0.1', port },
    { readiness, expose: metrics.expose, log: recordingLog(), ...deps },
  );
  opened.push(ops);
  return `http://${ops.address.host}:${ops.address.port}`;
}

/** An answer as the wire has it: status and body. */
async function ask(url: string, init?: RequestInit): Promise<[number, string]> {
  const answer = await fetch(url, init);
  return [answer.status, await answer.text()];
}

describe('ops listener', () => {
  it('says that the event loop turns, ready or not', async () => {
    ready = false;
    expect(await ask(`${await start()}/healthz`)).toEqual([200, '{"status":"ok"}']);
  });

  it('says whether it is ready, and why not', async () => {
    const url = `${await start()}/readyz`;
    expect(await ask(url)).toEqual([200, '{"status":"ready","detail":{"upstreams":{"search":"up"}}}']);
    ready = false;
    expect(await ask(url)).toEqual([503, '{"status":"not_ready","detail":{"upstreams":{"search":"starting"}}}']);
  });

  it('answers a scrape with what the handles counted', async () => {
    const url = `${await start()}/metrics`;
    const labels = { method: 'tools/call', upstream: 'search' };
    metrics.meter.counter('requests_total', { ...labels, outcome: 'ok' }).add(3);
    metrics.meter.histogram('request_duration_seconds', labels).observe(0.02);
    metrics.meter.gauge('connections', {}).add(2);

    const answer = await fetch(url);
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const samples = parseMetrics(await answer.text());
    expect(sampleValue(samples, 'mcp_gateway_requests_total', { ...labels, outcome: 'ok' })).toBe(3);
    expect(sampleValue(samples, 'mcp_gateway_connections')).toBe(2);
    const buckets = samples.filter(({ name }) => name === 'mcp_gateway_request_duration_seconds_bucket');
    expect(buckets.map(({ labels: { le }, value }) => `${le}=${value}`).join(' ')).toBe(
      '0.001=0 0.0025=0 0.005=0 0.01=0 0.025=1 0.05=1 0.1=1 0.25=1 0.5=1 1=1 2.5=1 5=1 10=1 30=1 60=1 120=1 300=1 600=1 +Inf=1',
    );
    expect(sampleValue(samples, 'mcp_gateway_request_duration_seconds_sum', labels)).toBe(0.02);
  });

  it('makes one scrape of those that come together', async () => {
    let scrapes = 0;
    let finish = () => {};
    const held = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const expose = async () => {
      scrapes += 1;
      await held;
      return { contentType: 'text/plain', text: 'a 1\n' };
    };
    const url = await start({ expose });
    const both = [ask(`${url}/metrics`), ask(`${url}/metrics`)];
    await expect.poll(() => scrapes).toBe(1);
    await ask(`${url}/healthz`);
    finish();
    expect(await Promise.all(both)).toEqual([
      [200, 'a 1\n'],
      [200, 'a 1\n'],
    ]);
    expect(scrapes).toBe(1);
  });

  it.each([
    ['GET', '/'],
    ['GET', '/healthz/more'],
    ['GET', '/favicon.ico'],
    ['HEAD', '/healthz'],
    ['POST', '/metrics'],
    ['POST', '/nowhere'],
    ['PUT', '/readyz'],
    ['OPTIONS', '/metrics'],
  ])('knows nothing else: %s %s', async (method, path) => {
    const body = method === 'POST' ? { body: '{not json', headers: { 'content-type': 'application/json' } } : {};
    const answer = await fetch((await start()) + path, { method, ...body });
    expect(answer.status).toBe(404);
    expect(await answer.text()).toBe(method === 'HEAD' ? '' : '{"error":"not_found"}');
  });

  it('tells the log and not the peer what went wrong', async () => {
    const cause = new Error('collector broke at /srv/secret-place');
    const url = await start({
      expose: () => Promise.reject(cause),
      readiness: () => {
        throw cause;
      },
    });
    expect(await ask(`${url}/metrics`)).toEqual([500, '{"error":"internal"}']);
    expect(await ask(`${url}/readyz`)).toEqual([500, '{"error":"internal"}']);
    expect(logged).toEqual([
      ['ops_request_failed', { err: cause }],
      ['ops_request_failed', { err: cause }],
    ]);
  });

  it('answers a path that cannot be decoded with a fixed text', async () => {
    const { hostname, port } = new URL(await start());
    const asked = request({ hostname, port, path: '/%E0%A4%A' }).end();
    const [answer] = await once(asked, 'response');
    expect([answer.statusCode, await text(answer)]).toEqual([400, '{"error":"bad_request"}']);
  });

  it('closes at once, also with a request half sent', async () => {
    const { hostname, port } = new URL(await start());
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n');
    const ended = new Promise((resolve) => socket.on('error', () => {}).once('close', resolve));
    await opened.splice(0)[0]?.close();
    await ended;
    await expect(fetch(`http://${hostname}:${port}/healthz`)).rejects.toThrow('fetch failed');
  });

  it('reports a taken port in one sentence', async () => {
    const { port } = new URL(await start());
    await expect(start({}, Number(port))).rejects.toThrow(
      new Error(`port ${port} on 127.0.0.1 is already in use (ops.port)`),
    );
  });
});
