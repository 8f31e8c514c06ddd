import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { stringify } from 'yaml';

export interface GatewayProcess {
  /** `ws://…` */
  readonly url: string;
  close(): Promise<void>;
}

/** The built gateway, as `serve` runs it, before one upstream whose names it leaves alone; ready when this resolves. */
export async function startGatewayProcess(upstream: Upstream, origins: readonly string[]): Promise<GatewayProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'conformance-'));
  const file = join(folder, 'gateway.yaml');
  writeFileSync(file, stringify(configuration(upstream, origins)));
  const child = spawn(process.execPath, [resolve('dist/main.js'), 'serve', '--config', file], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const closed = once(child, 'close');
  const end = () => child.kill('SIGTERM');
  process.once('exit', end);
  const close = async () => {
    end();
    await closed;
    process.off('exit', end);
    rmSync(folder, { recursive: true });
  };
  try {
    const { url, ops } = await listening(child.stderr);
    await untilReady(`${ops}/readyz`, AbortSignal.timeout(READY_WITHIN));
    return { url, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** An entry of `mcpServers`. */
export type Upstream = Readonly<Record<string, unknown>>;

function configuration(upstream: Upstream, origins: readonly string[]) {
  return {
    listen: { port: 0 },
    ops: { port: 0 },
    auth: { mode: 'anonymous' },
    audit: { sink: 'off' },
    origins,
    // The suite leaves sessions behind without ending them: their links are let go as soon as they are idle.
    mcpServers: { fixture: { ...upstream, prefix: '', idle: '2s' } },
  };
}

/** Where it listens. Its log is read for as long as it runs; rejects with the log when it ends before. */
function listening(stderr: NodeJS.ReadableStream): Promise<{ url: string; ops: string }> {
  let said = '';
  return new Promise((found, failed) => {
    const lines = createInterface({ input: stderr });
    lines.once('close', () => failed(new Error(`the gateway does not start\n${said}`)));
    lines.on('line', (line) => {
      const fields: unknown = line.startsWith('{') ? JSON.parse(line) : undefined;
      if (isAddress(fields)) found(fields);
      if (said.length < LOG_SHOWN) said += `${line}\n`;
    });
  });
}

const LOG_SHOWN = 10_000;

/** Milliseconds from listening to ready. */
const READY_WITHIN = 60_000;

function isAddress(fields: unknown): fields is { url: string; ops: string } {
  return typeof fields === 'object' && fields !== null && 'event' in fields && fields.event === 'listening';
}

async function untilReady(url: string, signal: AbortSignal): Promise<void> {
  const { status } = await fetch(url, { signal });
  if (status !== 200) return untilReady(url, signal);
}
