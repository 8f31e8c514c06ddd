import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { runCli, startServing } from '../support/cli.ts';
import { ANONYMOUS, fileWith, jwtFile } from '../support/config-fixtures.ts';

const PORTS = 'listen: { port: 0 }\nops: { port: 0 }\n';
const QUIET = 'log: { level: error }\n';

/** What `serve` says of a configuration it cannot run with; it says nothing else and no more than that. */
async function refusal(yaml: string, env: Readonly<Record<string, string>> = {}): Promise<string[]> {
  const ran = await runCli(['serve', '--config', fileWith('gateway.yaml', yaml)], { env });
  expect(ran).toMatchObject({ code: 1, stdout: '' });
  return ran.stderr.trimEnd().split('\n');
}

test.each([
  [['sevre'], "error: unknown command 'sevre' (Did you mean serve?)"],
  [['serve', '--cofig', 'x'], "error: unknown option '--cofig' (Did you mean --config?)"],
  [['serve'], 'error: --config FILE is required'],
  [['check'], 'error: --config FILE is required'],
  [['token'], 'error: --config FILE is required'],
  [['changes', '--kind', 'tools'], 'error: --config FILE is required'],
  [['serve', '--config', 'no/such.yaml'], 'the configuration file no/such.yaml cannot be read (ENOENT)'],
])('%j ends with one sentence', async (args, sentence) => {
  expect(await runCli(args)).toEqual({ code: 1, stdout: '', stderr: `${sentence}\n` });
});

test('the help names every command and its options', async () => {
  const { code, stdout } = await runCli(['--help']);
  expect({ code, commands: stdout.match(/^ {2}(serve|check|token|changes) /gm) }).toEqual({
    code: 0,
    commands: ['  serve ', '  check ', '  token ', '  changes '],
  });
  const help = (await runCli(['token', '--help'])).stdout;
  expect(help.match(/^ {2}--[a-z-]+/gm)?.map((option) => option.trim())).toEqual([
    '--config',
    '--issuer',
    '--id',
    '--role',
    '--scope',
    '--expires-in',
  ]);
  const told = (await runCli(['changes', '--help'])).stdout;
  expect(told.match(/^ {2}--[a-z-]+/gm)?.map((option) => option.trim())).toEqual([
    '--config',
    '--kind',
    '--upstream',
    '--uri',
    '--url',
  ]);
});

test('each mistake in the file is a sentence with its key, a near one, and never a value', async () => {
  const env = { GATEWAY_TEST_SECRET: 'a-secret-nobody-may-see' };
  const yaml = `auth: { mode: anonymous }
lisen: { port: 0 }
limits: { inFligt: 3 }
mcpServers:
  one: { comand: node, env: { KEY: "\${GATEWAY_TEST_SECRET}" } }
  two: { url: "\${GATEWAY_TEST_SECRET}" }
`;
  const sentences = await refusal(yaml, env);
  expect(sentences).toEqual([
    'mcpServers.one must hold exactly one of command, url and module; did you mean `command` by `comand`?',
    'mcpServers.two.url must be an http or https URL without user name and password',
    'unknown key `limits.inFligt`; did you mean `limits.inFlight`?',
    'unknown key `lisen`; did you mean `listen`?',
  ]);
});

test('a condition that does not compile is a sentence', async () => {
  const policy = `policy:\n  - { allow: { tools: ["**"] }, when: "principal.nobody ==" }\n`;
  const sentences = await refusal(`${ANONYMOUS}${PORTS}${policy}`);
  expect(sentences).toEqual([expect.stringMatching(/^policy\[0\]\.when: Unexpected token/)]);
});

test('a port that is taken is one sentence', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => taken.once('listening', resolve));
  onTestFinished(() => void taken.close());
  const address = taken.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  expect(await refusal(`${ANONYMOUS}${QUIET}listen: { port: ${port} }\nops: { port: 0 }\n`)).toEqual([
    `port ${port} on 127.0.0.1 is already in use (listen.port)`,
  ]);
  expect(await refusal(`${ANONYMOUS}${QUIET}listen: { port: 0 }\nops: { port: ${port} }\n`)).toEqual([
    `port ${port} on 127.0.0.1 is already in use (ops.port)`,
  ]);
});

test('a key set that cannot be read and an audit file that cannot be opened are one sentence each', async () => {
  expect(await refusal(`${jwtFile('{ jwksFile: no-such.json }')}${PORTS}${QUIET}`)).toEqual([
    'Issuer https://idp.example: jwksFile cannot be read',
  ]);
  expect(await refusal(`${ANONYMOUS}${PORTS}${QUIET}audit: { sink: { file: no/such/file } }\n`)).toEqual([
    expect.stringMatching(/^the audit file .*no\/such\/file cannot be opened \(ENOENT\) \(audit\.sink\.file\)$/),
  ]);
});

test('a configuration that is right is served until SIGTERM, its warnings in the log', async () => {
  const serving = await startServing(fileWith('gateway.yaml', `${ANONYMOUS}${PORTS}`));
  expect(serving.log).toMatchObject([
    { level: 'warn', event: 'config_warning', warning: 'mcpServers names no upstream that is enabled' },
    { level: 'info', event: 'listening', url: expect.stringMatching(/^ws:\/\/127\.0\.0\.1:\d+\/mcp$/) },
  ]);
  expect((await fetch(`${serving.opsUrl}/readyz`)).status).toBe(200);
  expect(await serving.stop()).toBe(0);
});
