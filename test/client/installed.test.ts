import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clientKit } from '../kits/client-kit.ts';

/** A project of its own that has the packed gateway, what that depends on, and nothing else. */
const project = mkdtempSync(join(tmpdir(), 'gateway-installed-'));
const modules = join(project, 'node_modules');
const installed = join(modules, 'mcp-ws-gateway');

beforeAll(() => {
  mkdirSync(installed, { recursive: true });
  const packing = ['pack', '--ignore-scripts', '--json', '--pack-destination', project];
  const [{ filename }] = JSON.parse(execFileSync('npm', packing, { encoding: 'utf8' }));
  execFileSync('tar', ['-xzf', join(project, filename), '-C', installed, '--strip-components=1']);
  const { dependencies } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
  for (const name of Object.keys(dependencies)) link(name);
  writeFileSync(join(project, 'package.json'), '{"type":"module"}');
  writeFileSync(join(project, 'client.js'), "export * from 'mcp-ws-gateway/client';");
});

afterAll(() => rmSync(project, { recursive: true }));

describe('the client library, as it is installed', () => {
  clientKit(() => import(/* @vite-ignore */ pathToFileURL(join(project, 'client.js')).href));

  test('exports the client and its package file, and still has its command', () => {
    const { bin, exports } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
    expect(Object.keys(exports)).toEqual(['./client', './package.json']);
    const command = [join(installed, bin['mcp-ws-gateway']), '--version'];
    expect(execFileSync(process.execPath, command, { encoding: 'utf8' })).toMatch(/^\d+\.\d+\.\d+/);
  });

  test('has types that make it a transport of both SDKs', () => {
    for (const name of ['@modelcontextprotocol/client', '@types/node']) link(name);
    writeFileSync(join(project, 'consumer.ts'), CONSUMER);
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions: STRICT, files: ['consumer.ts'] }));
    const compile = () => execFileSync(resolve('node_modules/.bin/tsc'), ['-p', project], { encoding: 'utf8' });
    expect(compile()).toBe('');
  });
});

const STRICT = {
  module: 'nodenext',
  target: 'es2023',
  strict: true,
  exactOptionalPropertyTypes: true,
  noEmit: true,
  skipLibCheck: true,
  types: ['node'],
};

const CONSUMER = `
import { Client as Client2 } from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { CLOSE_CODES, UpgradeRefusedError, WebSocketClientTransport } from 'mcp-ws-gateway/client';

const transport = new WebSocketClientTransport({ url: 'ws://127.0.0.1/mcp', token: async () => 'secret' });
await new Client1({ name: 'a', version: '1' }).connect(transport);
await new Client2({ name: 'a', version: '1' }).connect(transport);
export const expired: boolean = transport.closed?.code === CLOSE_CODES.unauthenticated.code;
export const status = (error: unknown): number | undefined => error instanceof UpgradeRefusedError ? error.status : undefined;
// @ts-expect-error: the types are there, not any
new WebSocketClientTransport({ url: 1 });
`;

function link(name: string): void {
  mkdirSync(dirname(join(modules, name)), { recursive: true });
  symlinkSync(resolve('node_modules', name), join(modules, name));
}
