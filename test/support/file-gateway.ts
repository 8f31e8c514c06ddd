import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import type { Clock } from '../../src/ports/clock.ts';
import { openGateway, type TestGateway } from './gateway.ts';

/** One gateway for all tests of a file: called at its top level, read inside its tests. */
export function fileGateway(config: Readonly<Record<string, unknown>>, clock?: Clock): () => TestGateway {
  let gateway: TestGateway | undefined;
  beforeAll(async () => {
    gateway = await openGateway(config, clock);
    await gateway.ready();
  });
  afterAll(() => gateway?.close());
  return () => {
    if (gateway === undefined) throw new Error('the gateway has not started');
    return gateway;
  };
}

export interface RecordFile {
  readonly path: string;
  /** What has been written so far, without newlines. */
  lines(): string[];
}

/** A file that the upstreams of a test file write into; called at its top level. */
export function recordFile(): RecordFile {
  const directory = mkdtempSync(join(tmpdir(), 'gateway-record-'));
  const path = join(directory, 'record');
  writeFileSync(path, '');
  afterAll(() => rmSync(directory, { recursive: true }));
  return { path, lines: () => readFileSync(path, 'utf8').split('\n').slice(0, -1) };
}
