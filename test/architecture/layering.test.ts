import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { describe, expect, test } from 'vitest';
import { judge, type Row, rowNames } from './layering.ts';

const SRC = join(import.meta.dirname, '../../src');

/** At least one file that breaks each row, and that row must be the one that says so. */
const BAD: Record<Row, readonly (readonly [path: string, source: string])[]> = {
  'every file has a place in the drawing': [
    ['metrics/registry.ts', ''],
    ['server.ts', ''],
  ],
  'file names say the idea': [
    ['session/utils.ts', ''],
    ['http/helpers/host.ts', ''],
    ['upstream/common.ts', ''],
    ['ports/types.ts', ''],
  ],
  'an import goes to its own folder or below': [
    ['session/relay.ts', "import { serve } from '../http/upgrade.ts'"],
    ['upstream/pool.ts', "import type { View } from '../catalogue/view.ts'"],
    ['protocol/names.ts', "export * from '../ports/clock.ts'"],
    ['policy/rule.ts', "export { load } from '../config/load.ts'"],
    ['policy/rule.ts', "import type { Config } from '../config/schema.ts'"],
    ['auth/principal.ts', "import { verify } from './jwt.ts'"],
    ['cli/check.ts', "const { main } = await import('../main.ts')"],
    ['ports/link.ts', "export type L = import('../upstream/link.ts').Link"],
  ],
  'edges know each other only through ports': [
    ['catalogue/refresh.ts', "import { bus } from '../fanout/memory-bus.ts'"],
    ['catalogue/refresh.ts', "import { pool } from '../upstream/pool.ts'"],
    ['auth/jwt.ts', "import { log } from '../observe/log.ts'"],
    ['upstream/sse.ts', "import { seal } from '../auth/seal.ts'"],
    ['transport/websocket.ts', "import type { Client } from '../client/client.ts'"],
  ],
  'nobody imports demo': [
    ['app.ts', "import { demo } from './demo/server.ts'"],
    ['cli/serve.ts', "const demo = () => import('../demo/server.ts')"],
  ],
  'ports hold types only': [
    ['ports/clock.ts', 'export const clock = 1'],
    ['ports/clock.ts', 'export class Clock {}'],
    ['ports/clock.ts', 'export function now() {}'],
    ['ports/clock.ts', "export { clock } from '../protocol/era.ts'"],
    ['ports/clock.ts', "import { clock } from '../protocol/era.ts'"],
  ],
  'SDK packages only in session adapters, upstream/module and demo': [
    ['session/session.ts', "import { Server } from '@modelcontextprotocol/sdk/server/index.js'"],
    ['upstream/stdio.ts', "import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'"],
    ['app.ts', "export { Server } from '@modelcontextprotocol/server'"],
  ],
  'ws only in transport/websocket and client': [
    ['http/upgrade.ts', "import type { WebSocket } from 'ws'"],
    ['transport/tcp.ts', "import { WebSocket } from 'ws'"],
  ],
  'fastify only in http and app': [
    ['session/session.ts', "import type { FastifyRequest } from 'fastify'"],
    ['transport/websocket.ts', "import websocket from '@fastify/websocket'"],
  ],
  'jose only in auth': [['cli/token.ts', "import { SignJWT } from 'jose'"]],
  'pino and prom-client only in observe': [
    ['http/ops.ts', "import { register } from 'prom-client'"],
    ['cli/serve.ts', "import pino from 'pino'"],
  ],
  '@redis/client only in redis': [['app/door.ts', "import { createClient } from '@redis/client'"]],
  'PURE files import PURE files only': [
    ['config/schema.ts', "import { load } from './load.ts'"],
    ['protocol/names.ts', "import { fingerprint } from '../config/fingerprint.ts'"],
  ],
  'PURE files import no Node API and no package with I/O': [
    ['protocol/names.ts', "import { createHash } from 'node:crypto'"],
    ['policy/uri.ts', "import { resolve } from 'path'"],
    ['auth/principal.ts', "import { inspect } from 'node:util'"],
    ['config/schema-auth.ts', "import { readFileSync } from 'node:fs'"],
    ['config/nearest-key.ts', "import pino from 'pino'"],
  ],
  'PURE files use no clock, chance, process or network': [
    ['protocol/era.ts', 'export const at = Date.now()'],
    ['policy/access.ts', 'export const chance = () => Math.random()'],
    ['protocol/names.ts', 'export const home = process.env.HOME'],
    ['auth/principal.ts', 'setTimeout(() => {}, 1)'],
    ['policy/origin.ts', "export const list = fetch('http://127.0.0.1')"],
    ['config/schema.ts', "export const size = Buffer.byteLength('x')"],
    ['config/nearest-key.ts', 'export const now = new Date()'],
  ],
  'nothing outside logging reads clientInfo': [
    ['session/session.ts', 'export const name = params.clientInfo.name'],
    ['session/session.ts', "export const name = params['clientInfo']"],
    ['policy/access.ts', 'export const name = ({ clientInfo }) => clientInfo'],
    ['session/admit.ts', "export const name = field(params, 'clientInfo')"],
    ['session/admit.ts', "export const name = meta.get('io.modelcontextprotocol/clientInfo')"],
    ['session/handshake-adapter.ts', 'export const name = server.getClientVersion()'],
  ],
};

/** What looks like a breach and is none: no row may report it. */
const GOOD: readonly (readonly [path: string, source: string])[] = [
  ['main.ts', "import { run } from './cli/serve.ts'"],
  ['session/relay.ts', "import { view } from '../catalogue/view.ts'; import { link } from '../upstream/link.ts'"],
  [
    'upstream/stdio.ts',
    "import { lines } from '../transport/line-framing.ts'; import { spawn } from 'node:child_process'",
  ],
  ['upstream/websocket.ts', "import { connect } from '../client/connect.ts'"],
  [
    'catalogue/view.ts',
    "import type { Principal } from '../auth/principal.ts'; import type { Bus } from '../ports/bus.ts'",
  ],
  ['policy/access.ts', "import type { Principal } from '../auth/principal.ts'; import { rule } from './rule.ts'"],
  [
    'ports/verifier.ts',
    "import type { Identity } from '../auth/principal.ts'; export interface Verifier {} export type X = 1",
  ],
  ['session/handshake-adapter.ts', "import { Server } from '@modelcontextprotocol/sdk/server/index.js'"],
  ['upstream/module.ts', "import { Client } from '@modelcontextprotocol/sdk/client/index.js'"],
  ['transport/websocket.ts', "import { WebSocket } from 'ws'"],
  ['config/load.ts', "import { readFileSync } from 'node:fs'; export const env = process.env"],
  ['protocol/era.ts', "// Date.now() and import('node:fs') in a comment\nexport const text = 'process.env'"],
  ['policy/rule.ts', 'export interface Rule { process: string } export const of = (r: Rule) => r.process'],
  ['protocol/envelope.ts', "export const KEYS = ['clientInfo']"],
  ['upstream/link.ts', "export const hello = { clientInfo: { name: 'mcp-ws-gateway' } }"],
  ['session/session.ts', "this.log.info('session_opened', { client: params.clientInfo })"],
  ['observe/log.ts', 'export const client = params.clientInfo'],
];

describe('src', () => {
  const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'));

  test('has files to judge', () => {
    expect(files.length).toBeGreaterThan(5);
  });

  test.each(rowNames())('%s', (row) => {
    const broken = files.flatMap((path) =>
      judge(path.split(sep).join('/'), readFileSync(join(SRC, path), 'utf8'))
        .filter((violation) => violation.row === row)
        .map(({ what }) => `${path}: ${what}`),
    );
    expect(broken).toEqual([]);
  });
});

describe('each row is seen red', () => {
  const samples = rowNames().flatMap((row) => BAD[row].map(([path, source]) => [row, path, source] as const));

  test.each(samples)('%s: %s: %s', (row, path, source) => {
    expect(judge(path, source).map((violation) => violation.row)).toContain(row);
  });
});

test.each(GOOD)('%s may hold: %s', (path, source) => {
  expect(judge(path, source)).toEqual([]);
});
