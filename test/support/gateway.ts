import { resolve } from 'node:path';
import { onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import { type App, type AppOptions, startApp } from '../../src/app.ts';
import { loadConfigText } from '../../src/config/load.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { Fields, Log } from '../../src/ports/log.ts';

/** One line of the gateway's log, as its writer gave it. */
export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly event: string;
  readonly fields: Fields;
}

export interface TestGateway extends App {
  readonly url: string;
  readonly opsUrl: string;
  readonly log: readonly LogLine[];
  metrics(): Promise<string>;
  /** Resolves when every upstream has answered or failed. */
  ready(): Promise<void>;
}

const DEFAULTS = {
  listen: { port: 0 },
  ops: { port: 0 },
  auth: { mode: 'anonymous' },
  audit: { sink: 'off' },
};

type More = Pick<AppOptions, 'pressure'>;

/** The tests share a loop and a machine with the gateway: that it is busy says nothing of it. */
const NO_PRESSURE = {
  maxEventLoopDelay: Number.MAX_SAFE_INTEGER,
  maxHeapUsedBytes: Number.MAX_SAFE_INTEGER,
  maxRssBytes: Number.MAX_SAFE_INTEGER,
  sampleInterval: 1000,
};

/** A gateway in this process on free ports, closed when the test ends. `config` is laid over quiet defaults. */
export async function startGateway(
  config: Readonly<Record<string, unknown>>,
  clock?: Clock,
  more: More = {},
): Promise<TestGateway> {
  const gateway = await openGateway(config, clock, more);
  onTestFinished(() => gateway.close());
  return gateway;
}

/** The same, closed by whoever opened it. */
export async function openGateway(
  config: Readonly<Record<string, unknown>>,
  clock?: Clock,
  more: More = {},
): Promise<TestGateway> {
  const text = stringify({ ...DEFAULTS, ...config });
  const loaded = loadConfigText(text, resolve('config/test.yaml'), process.env);
  if (!loaded.ok) throw new Error(loaded.problems.join('\n'));
  const log: LogLine[] = [];
  const app = await startApp({
    config: loaded.config,
    configHash: loaded.hash,
    log: recordingLog(log),
    environment: process.env,
    ...(clock === undefined ? {} : { clock }),
    pressure: NO_PRESSURE,
    ...more,
    atExit: () => () => {},
  });
  const opsUrl = `http://127.0.0.1:${app.ops.port}`;
  return {
    ...app,
    url: `ws://127.0.0.1:${app.address.port}/mcp`,
    opsUrl,
    log,
    metrics: async () => (await fetch(`${opsUrl}/metrics`)).text(),
    ready: () => untilReady(`${opsUrl}/readyz`),
  };
}

/** An entry of `mcpServers` that runs a script of test/support/upstreams. */
export function stdioUpstream(
  script: string,
  args: readonly string[] = [],
  more: Readonly<Record<string, unknown>> = {},
) {
  return { command: process.execPath, args: [resolve('test/support/upstreams', script), ...args], ...more };
}

function recordingLog(lines: LogLine[], bound: Fields = {}): Log {
  const at =
    (level: LogLine['level']) =>
    (event: string, fields: Fields = {}) => {
      lines.push({ level, event, fields: { ...bound, ...fields } });
    };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (fields) => recordingLog(lines, { ...bound, ...fields }),
  };
}

async function untilReady(url: string): Promise<void> {
  const { status } = await fetch(url);
  if (status !== 200) return untilReady(url);
}
