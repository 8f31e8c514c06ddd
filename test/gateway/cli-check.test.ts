import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { stringify } from 'yaml';
import { idlePatterns, type Offered } from '../../src/cli/idle-patterns.ts';
import { unpinnedPackages } from '../../src/cli/unpinned-packages.ts';
import { runCli, startCli } from '../support/cli.ts';
import { fileWith } from '../support/config-fixtures.ts';
import { freePort } from '../support/free-port.ts';
import { stdioUpstream } from '../support/gateway.ts';
import { startKeyServer } from '../support/key-server.ts';
import { statelessUpstream } from '../support/stateless-upstream.ts';
import { isAlive } from '../support/stdio/child.ts';

function configFile(config: Readonly<Record<string, unknown>>): string {
  return fileWith('gateway.yaml', stringify({ auth: { mode: 'anonymous' }, ...config }));
}

/** The lines `check` prints, durations masked. */
async function check(file: string): Promise<{ code: number | null; lines: string[] }> {
  const { code, stdout, stderr } = await runCli(['check', '--config', file]);
  expect(stderr).toBe('');
  return {
    code,
    lines: stdout
      .trimEnd()
      .replaceAll(/\d+ ms\)/g, 'N ms)')
      .split('\n'),
  };
}

/** A server that says its pid in a file and never answers. */
const MUTE = `require('fs').writeFileSync(process.argv[1], String(process.pid)); process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)`;

function mute(file: string) {
  return { command: process.execPath, args: ['-e', MUTE, file], startTimeout: '1500ms' };
}

test('a Redis that cannot be reached is a warning: each replica would serve by itself', async () => {
  const port = await freePort();
  const file = configFile({
    bus: { redis: `redis://:hidden-password@127.0.0.1:${port}` },
    seal: { keys: ['a seal key of replicas in tests, 32 bytes'] },
  });
  expect(await check(file)).toEqual({
    code: 0,
    lines: [
      'warning: mcpServers names no upstream that is enabled',
      `warning: bus: Redis cannot be reached, and replicas do not hear each other: connect ECONNREFUSED 127.0.0.1:${port}`,
      '0 problems, 2 warnings',
    ],
  });
});

test('the embedded default is fine', async () => {
  expect(await check('config/gateway.yaml')).toEqual({
    code: 0,
    lines: ['demo: 3 tools, 1 resource, 0 templates, 1 prompt (revision 2025-11-25, N ms)', '0 problems, 0 warnings'],
  });
});

test('a configuration that is wrong is told in sentences, and nothing is connected to', async () => {
  const file = configFile({ mcpServers: { mute: { ...mute('pid'), timeuot: '1s' } } });
  expect(await check(file)).toEqual({
    code: 1,
    lines: [
      'problem: unknown key `mcpServers.mute.timeuot`; did you mean `mcpServers.mute.timeout`?',
      '1 problem, 0 warnings',
    ],
  });
  expect(existsSync(join(dirname(file), 'pid'))).toBe(false);
});

test('each upstream that cannot be reached is a problem with its cause; the others are still found', async () => {
  const file = configFile({
    mcpServers: {
      crash: { command: process.execPath, args: ['no-such-script.js'] },
      gone: { command: 'no-such-command-anywhere' },
      refused: { url: 'http://127.0.0.1:9/mcp' },
      odd: { module: resolve('test/support/stdio/modules/failing.mjs') },
      fine: stdioUpstream('plain.mjs', [fileWith('record', '')]),
    },
  });
  const { code, lines } = await check(file);
  expect(code).toBe(1);
  expect(lines).toEqual([
    expect.stringMatching(
      /^problem: mcpServers\.crash cannot be reached: the process exited with code 1.*Cannot find module/,
    ),
    'problem: mcpServers.gone cannot be reached: cannot start "no-such-command-anywhere": no such command',
    'problem: mcpServers.refused cannot be reached: connect ECONNREFUSED 127.0.0.1:9',
    expect.stringMatching(
      /^problem: mcpServers\.odd cannot be reached: the function exported by .*failing\.mjs failed: /,
    ),
    expect.stringMatching(/^fine: \d+ tools, 0 resources, 0 templates, 0 prompts \(revision 2025-11-25, N ms\)$/),
    '4 problems, 0 warnings',
  ]);
});

test('an upstream that never answers costs its startTimeout and leaves no process, though it ignores SIGTERM', async () => {
  const pids = fileWith('pid', '');
  const { code, lines } = await check(configFile({ mcpServers: { mute: mute(pids) } }));
  expect({ code, lines }).toEqual({
    code: 1,
    lines: [
      'problem: mcpServers.mute cannot be reached: no answer to initialize within 1500 ms',
      '1 problem, 0 warnings',
    ],
  });
  expect(isAlive(Number(readFileSync(pids, 'utf8')))).toBe(false);
});

test('a module that never returns its server does not hold it up either', async () => {
  const module = fileWith('never.mjs', 'export default () => new Promise(() => {});');
  const { code, lines } = await check(configFile({ mcpServers: { never: { module, startTimeout: '100ms' } } }));
  expect(code).toBe(1);
  expect(lines[0]).toBe('problem: mcpServers.never cannot be reached: no answer to initialize within 100 ms');
});

test('interrupted, it leaves no process', async () => {
  const pids = fileWith('pid', '');
  const file = configFile({ mcpServers: { mute: { ...mute(pids), startTimeout: '10m' } } });
  const running = startCli(['check', '--config', file]);
  await expect.poll(() => readFileSync(pids, 'utf8'), { timeout: 10_000 }).not.toBe('');
  process.kill(running.pid, 'SIGINT');
  expect((await running.ended).code).toBe(130);
  await expect.poll(() => isAlive(Number(readFileSync(pids, 'utf8')))).toBe(false);
});

test('a tool that no client may call over HTTP is named, with what is wrong with it', async () => {
  const header = (name: string) => ({ properties: { v: { type: 'string', 'x-mcp-header': name } } });
  const { entry } = await statelessUpstream({
    'tools/list': ({ result }) => result({ tools: ['ok', 'a b'].map((name) => ({ name, inputSchema: header(name) })) }),
  });
  const { lines } = await check(configFile({ mcpServers: { up: entry } }));
  expect(lines).toContain('problem: mcpServers.up: the tool a b was left out: an x-mcp-header is no name of a header');
  expect(lines).toContain('problem: mcpServers.up: definitions of tools were left out: 1 invalid header');
});

test('no secret of the configuration is printed, whatever an upstream says', async () => {
  const sealKey = '0123456789abcdef0123456789abcdef';
  const told = `console.error('error: bad key ' + process.env.KEY + ' ${sealKey} \\u001b[31m'); process.exit(2)`;
  const file = configFile({
    seal: { keys: [sealKey] },
    mcpServers: { tell: { command: process.execPath, args: ['-e', told], env: { KEY: 'hunter2hunter2' } } },
  });
  const { lines } = await check(file);
  expect(lines[0]).toMatch(/its standard error says: error: bad key \[redacted\] \[redacted\] {2}\[31m$/);
});

test('keys that cannot be had are a problem', async () => {
  const keys = await startKeyServer();
  onTestFinished(() => keys.close());
  keys.fail(500);
  const auth = {
    mode: 'jwt',
    resource: 'http://127.0.0.1:8080/mcp',
    issuers: [{ issuer: 'https://idp.example/', keys: { jwksUri: keys.jwksUri } }],
  };
  const file = configFile({ auth, policy: null });
  expect(await check(file)).toEqual({
    code: 1,
    lines: [
      'warning: mcpServers names no upstream that is enabled',
      'problem: auth.issuers[0].keys: no keys of https://idp.example/: The key server answered with status 500',
      '1 problem, 1 warning',
    ],
  });
  keys.recover();
  expect((await check(file)).code).toBe(0);
});

test('warnings alone are no failure', async () => {
  const module = resolve('dist/demo/server.js');
  const policy = [
    { allow: { upstreams: ['demos'], tools: ['demo/ehco', 'dmo/*', 'demo/*'], resources: ['demo://**'] } },
  ];
  expect(await check(configFile({ policy, mcpServers: { demo: { module, icon: 'x.png' } } }))).toEqual({
    code: 0,
    lines: [
      'warning: mcpServers.demo.icon is a key of MCP hosts and has no effect here; policy decides what callers reach',
      'demo: 3 tools, 1 resource, 0 templates, 1 prompt (revision 2025-11-25, N ms)',
      'warning: policy[0].allow.upstreams: "demos" matches no configured upstream',
      'warning: policy[0].allow.tools: "demo/ehco" matches nothing that was found',
      'warning: policy[0].allow.tools: "dmo/*" matches nothing: no upstream is called "dmo"; did you mean demo?',
      '0 problems, 4 warnings',
    ],
  });
});

describe('packages that are not pinned', () => {
  test.each([
    ['npx', ['-y', 'some-server'], ['some-server'], ['some-server@1.2.3']],
    ['npx', ['-y', '@scope/server@latest', '.'], ['@scope/server@latest'], ['@scope/server@1.2.3']],
    ['/usr/bin/npx', ['server@^1.0.0'], ['server@^1.0.0'], ['server@1.2.3']],
    ['npx.cmd', ['--package=a', '-p', 'b@2', 'run', 'c'], ['a', 'b@2'], ['a@1.2.3', 'b@1.2.3']],
    ['npx', ['--', 'server'], ['server'], ['server@1.2.3']],
    ['bunx', ['github:owner/server'], ['github:owner/server'], ['github:owner/server@1.2.3']],
    ['uvx', ['mcp-server-git'], ['mcp-server-git'], ['mcp-server-git==1.2.3']],
    ['uvx', ['--from', 'pkg[extra]>=1', 'tool', '--x'], ['pkg[extra]>=1'], ['pkg==1.2.3']],
    ['uvx', ['--python', '3.12', 'server@latest'], ['server@latest'], ['server==1.2.3']],
  ])('%s %j', (command, args, specs, pinned) => {
    const found = unpinnedPackages(command, args);
    expect(found.map(({ spec }) => spec)).toEqual(specs);
    expect(found.map((each) => each.pinned)).toEqual(pinned);
  });

  test.each([
    ['npx', ['-y', '@scope/server@2026.8.31', '/some/path']],
    ['npx', ['server@1.0.0-rc.1']],
    ['npx', ['./local']],
    ['npx', ['--package', 'a@1.2.3', 'unversioned-command']],
    ['npx', [`github:owner/server#${'0123456789'.repeat(4)}`]],
    ['uvx', ['mcp-server-git==2025.1.14']],
    ['uvx', ['--from', 'pkg[extra]==1.0', 'tool']],
    ['uvx', ['server@1.2.3', '--flag']],
    ['uvx', ['--from', `git+https://host.example/x@${'0123456789'.repeat(4)}`, 'x']],
    ['node', ['some-server']],
    ['npx', []],
  ])('not %s %j', (command, args) => {
    expect(unpinnedPackages(command, args)).toEqual([]);
  });
});

describe('patterns that match nothing', () => {
  const search: Offered = {
    upstream: 'search',
    tools: ['find', 'delete_all/now'],
    prompts: ['ask'],
    resources: ['note://one'],
    templates: ['page://{id}/text'],
  };
  const around = { upstreams: ['search'], offered: [search] };

  test.each([
    [{ allow: { tools: ['search/find', '*/find', '**', 'search/**'] } }],
    [{ allow: { prompts: ['search/a*'], resources: ['note://*', 'page://7/text', 'page://**'] } }],
    [{ deny: { tools: ['SEARCH/Delete_*', '*delete*'], upstreams: ['SEARCH'] } }],
  ])('%j has none', (rule) => {
    expect(idlePatterns([rule], around)).toEqual([]);
  });

  test.each([
    [
      { allow: { tools: ['search/*/now/*'] } },
      'policy[0].allow.tools: "search/*/now/*" matches nothing that was found',
    ],
    [{ allow: { prompts: ['search/find'] } }, 'policy[0].allow.prompts: "search/find" matches nothing that was found'],
    [
      { allow: { resources: ['file:///**'] } },
      'policy[0].allow.resources: "file:///**" matches nothing that was found',
    ],
    [{ deny: { tools: ['*/drop_*'] } }, 'policy[0].deny.tools: "*/drop_*" matches nothing that was found'],
  ])('%j', (rule, sentence) => {
    expect(idlePatterns([rule], around)).toEqual([sentence]);
  });

  test('what may concern an upstream that did not answer is not judged', () => {
    const policy = [{ allow: { tools: ['down/*', '*/drop_*', 'search/drop_*'], resources: ['file:///**'] } }];
    expect(idlePatterns(policy, { ...around, upstreams: ['search', 'down'] })).toEqual([
      'policy[0].allow.tools: "search/drop_*" matches nothing that was found',
    ]);
  });
});
