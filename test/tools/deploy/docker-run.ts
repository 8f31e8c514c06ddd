import { openSdkCaller } from '../trial/sdk-caller.ts';
import type { Deploy } from './check.ts';
import { Container } from './container.ts';
import type { Engine } from './engine.ts';
import { expect, expectSoon } from './expect.ts';
import { CONFINED, configured, IMAGE, imagesOf } from './images.ts';
import { makeIssuer } from './issuer.ts';
import { Tunnel } from './tunnel.ts';

const NAME = 'one-gateway';
const HEALTHY_MS = 30_000;
/** What a container that is told to stop is given: more than the drain needs. */
const GRACE_SECONDS = 60;

/** Confined as far as it goes: healthy, answering clients of both eras, drained by SIGTERM while they are connected. */
export async function containerServes(deploy: Deploy): Promise<string> {
  const engine = await imagesOf(deploy).withImage('own');
  const { token } = await start(deploy, engine);
  try {
    return await serveAndStop(deploy, engine, token);
  } finally {
    await engine.docker(['rm', '--force', NAME]);
  }
}

async function serveAndStop(deploy: Deploy, engine: Engine, token: string): Promise<string> {
  const container = new Container(engine, NAME);
  await expectSoon(
    async () => (await container.health()) === 'healthy',
    HEALTHY_MS,
    () => 'not healthy',
  );
  await judgeProcess(container);
  const tunnel = await Tunnel.into(deploy, engine);
  const port = await tunnel.port('8080');
  for (const era of ['handshake', 'modern'] as const) {
    const caller = await openSdkCaller(port, token, era);
    const end = await caller.call('demo__echo', { text: era });
    expect(end.kind === 'text' && end.text === era, `a ${era} client got ${JSON.stringify(end)}`);
  }
  const startMs = await startTime(container);
  const { stdout } = await engine.docker(['diff', NAME]);
  expect(stdout === '', `the container has written:\n${stdout}`);
  const stopMs = await stop(engine, container);
  return `started in ${startMs} ms, stopped with two clients in ${stopMs} ms`;
}

async function start(deploy: Deploy, engine: Engine): Promise<{ token: string }> {
  const issuer = await makeIssuer();
  const volume = configured(
    deploy,
    'run',
    {
      listen: { host: '0.0.0.0' },
      ops: { host: '0.0.0.0' },
      auth: issuer.auth('jwks.json'),
      mcpServers: { demo: { module: '/app/dist/demo/server.js', isolation: 'shared' } },
      policy: 'allow-authenticated',
    },
    { 'jwks.json': JSON.stringify(issuer.keys) },
  );
  const limits = ['--memory', '256m', '--pids-limit', '100', '--publish', '127.0.0.1:8080:8080'];
  await engine.docker(['run', '--detach', '--name', NAME, ...CONFINED, ...limits, '--volume', volume, IMAGE]);
  return { token: await issuer.token() };
}

async function judgeProcess(container: Container): Promise<void> {
  const status = await container.run('cat', '/proc/1/status');
  const [uid, capabilities] = [/^Uid:\s+(\d+)/m.exec(status)?.[1], /^CapEff:\s+(\w+)/m.exec(status)?.[1]];
  expect(uid === '1000', `process 1 runs as ${uid}`);
  expect(/^0+$/.test(capabilities ?? ''), `process 1 has capabilities: ${capabilities}`);
  const first = (await container.run('cat', '/proc/1/cmdline')).split('\0');
  expect(first[0] === '/usr/bin/tini', `process 1 is ${first.join(' ')}`);
}

/** From the container's start to the listener's. */
async function startTime(container: Container): Promise<number> {
  const { StartedAt } = await container.state();
  const listening = (await container.events()).find(({ event }) => event === 'listening');
  return Math.round(Date.parse(String(listening?.time)) - Date.parse(StartedAt));
}

async function stop(engine: Engine, container: Container): Promise<number> {
  const started = performance.now();
  await engine.docker(['stop', '--time', String(GRACE_SECONDS), NAME]);
  const stopMs = Math.round(performance.now() - started);
  const { ExitCode } = await container.state();
  expect(ExitCode === 0, `the container ended with exit code ${ExitCode}`);
  const events = await container.events();
  const errors = events.filter(({ level }) => level === 'error').map(({ event }) => event);
  expect(errors.length === 0, `errors in the log: ${errors.join(', ')}`);
  expect(events.at(-1)?.event === 'stopped', `the last event is ${events.at(-1)?.event}`);
  return stopMs;
}
