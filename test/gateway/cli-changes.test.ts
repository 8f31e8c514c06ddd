import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { describe, expect, onTestFinished, test } from 'vitest';
import { stringify } from 'yaml';
import { ADMIN_TOKEN, startAdminGateway } from '../support/admin-gateway.ts';
import { runCli, startServing } from '../support/cli.ts';
import { fileWith } from '../support/config-fixtures.ts';
import { freePort } from '../support/free-port.ts';
import { stdioUpstream } from '../support/gateway.ts';

const UP = { mcpServers: { up: stdioUpstream('plain.mjs'), other: stdioUpstream('plain.mjs') } };

/** A configuration whose admin listener is at this port; its token stands beside it. */
function configFile(admin: object | null, token = ADMIN_TOKEN): string {
  const tokenFile = fileWith('admin-token', `${token}\n`);
  const whole = admin === null ? {} : { admin: { tokenFile, ...admin } };
  return fileWith(
    'gateway.yaml',
    stringify({ auth: { mode: 'anonymous' }, listen: { port: 0 }, ops: { port: 0 }, ...UP, ...whole }),
  );
}

const changes = (file: string, ...args: string[]) => runCli(['changes', '--config', file, ...args]);
const failed = (sentence: string) => ({ code: 1, stdout: '', stderr: `${sentence}\n` });

/** Whoever listens at the port of a configuration and is no admin listener. Returns its port. */
async function impostor(listener: RequestListener): Promise<number> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not listening on a port');
  return address.port;
}

test('tells the gateway that runs with the same configuration, and says how many changes were published', async () => {
  const file = configFile({ port: await freePort() });
  const serving = await startServing(file);
  onTestFinished(async () => void (await serving.stop()));
  expect(await changes(file, '--kind', 'tools')).toEqual({ code: 0, stdout: 'published 2\n', stderr: '' });
  const updated = ['--kind', 'updated', '--upstream', 'up', '--uri', 'a://b?c=canary'];
  expect(await changes(file, ...updated)).toEqual({ code: 0, stdout: 'published 1\n', stderr: '' });
  expect(serving.log.filter(({ event }) => event === 'change_published')).toMatchObject([
    { kind: 'tools', published: 2 },
    { kind: 'updated', upstream: 'up', published: 1 },
  ]);
  expect(JSON.stringify(serving.log)).not.toContain('canary');
});

test('the address of the listener is logged at the start, and --url is where to go where it is another', async () => {
  const file = configFile({ port: 0 });
  const serving = await startServing(file);
  onTestFinished(async () => void (await serving.stop()));
  const { admin } = serving.log.find(({ event }) => event === 'listening') ?? {};
  expect(admin).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect(await changes(file, '--kind', 'prompts', '--url', String(admin))).toMatchObject({
    code: 0,
    stdout: 'published 2\n',
  });
  expect(await changes(file, '--kind', 'prompts', '--url', `${String(admin)}/`)).toMatchObject({ code: 0 });
});

describe('ends with one sentence and exit code 1', () => {
  test('where nobody listens', async () => {
    const port = await freePort();
    expect(await changes(configFile({ port }), '--kind', 'tools')).toEqual(
      failed(`the admin listener at http://127.0.0.1:${port} cannot be asked: ECONNREFUSED`),
    );
  });

  test('where the token is another, or the upstream is not there', async () => {
    const { adminUrl } = await startAdminGateway(UP);
    const asked = ['--kind', 'tools', '--url', adminUrl];
    expect(await changes(configFile({ port: 0 }, `${ADMIN_TOKEN}x`), ...asked)).toEqual(
      failed(`the admin listener at ${adminUrl} refused the token of admin.tokenFile`),
    );
    expect(await changes(configFile({ port: 0 }), ...asked, '--upstream', 'third')).toEqual(
      failed(`the gateway at ${adminUrl} has no upstream third`),
    );
  });

  test.each<[string, RequestListener, string]>([
    ['something else', (_request, response) => void response.writeHead(500).end('<html>'), 'answered 500'],
    [
      'somebody who sends it elsewhere',
      (_request, response) => void response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end(),
      'answered 307',
    ],
    [
      'a word of refusal',
      (_request, response) => void response.writeHead(403).end('{"error":"host"}'),
      'answered 403 (host)',
    ],
    [
      'nobody who speaks HTTP',
      ({ socket }) => void socket.end('nothing\r\n\r\n'),
      'cannot be asked: HPE_INVALID_CONSTANT',
    ],
    [
      'an answer without end',
      (_request, response) => void response.end('x'.repeat(1_000_000)),
      'cannot be asked: its answer is too long',
    ],
  ])('where %s answers', async (_who, listener, what) => {
    const port = await impostor(listener);
    expect(await changes(configFile({ port }), '--kind', 'tools')).toEqual(
      failed(`the admin listener at http://127.0.0.1:${port} ${what}`),
    );
  });

  test('within 10 s where nothing is answered', async () => {
    const port = await impostor(() => {});
    expect(await changes(configFile({ port }), '--kind', 'tools')).toEqual(
      failed(`the admin listener at http://127.0.0.1:${port} did not answer within 10 s`),
    );
  }, 20_000);

  const KIND = '--kind must be tools, resources, prompts or updated';
  const URL_FORM = '--url must be http or https, a host and a port, and nothing else';
  test.each([
    ['no kind', [], KIND],
    ['an unknown kind', ['--kind', 'tool'], KIND],
    ['no URI', ['--kind', 'updated'], '--uri is required where kind is updated'],
    ['a URI too many', ['--kind', 'tools', '--uri', 'a://b'], '--uri has a meaning only where kind is updated'],
    ['no port', ['--kind', 'tools'], 'admin.port is 0: say with --url where the gateway listens'],
    ['a URL with a path', ['--kind', 'tools', '--url', 'http://127.0.0.1:1/changes'], URL_FORM],
    ['a URL with a password', ['--kind', 'tools', '--url', 'http://a:canary@127.0.0.1:1'], URL_FORM],
    ['a URL that is none', ['--kind', 'tools', '--url', '127.0.0.1:9465'], URL_FORM],
  ])('for %s, without asking anybody', async (_what, args, sentence) => {
    expect(await changes(configFile({ port: 0 }), ...args)).toEqual(failed(sentence));
  });

  test('without an admin listener, and with a token that is none', async () => {
    expect(await changes(configFile(null), '--kind', 'tools')).toEqual(
      failed('admin is not configured: there is no listener that takes changes'),
    );
    const { code, stderr } = await changes(configFile({ port: 1 }, 'canary'), '--kind', 'tools');
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^the token in \S+ must be 32 to 4096 .*\n$/),
    });
    expect(stderr).not.toContain('canary');
  });
});

test('check says that the token file is no good, and warns of a listener beyond loopback', async () => {
  const { code, stdout } = await runCli(['check', '--config', configFile({ host: '0.0.0.0', port: 9465 }, 'short')]);
  expect(code).toBe(1);
  expect(stdout).toContain(
    'warning: admin.host is beyond loopback: its token travels unencrypted, and whoever reaches it may try others\n',
  );
  expect(stdout).toMatch(/^problem: the token in \S+admin-token must be 32 to 4096 /m);
});
