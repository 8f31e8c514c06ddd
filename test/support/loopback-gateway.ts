import { resolve } from 'node:path';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import { startNews } from '../../src/app/news.ts';
import { policyOf, sessionGateway } from '../../src/app/sessions.ts';
import { wireUpstreams } from '../../src/app/upstreams.ts';
import { principalOf } from '../../src/auth/principal.ts';
import { createSeal } from '../../src/auth/seal.ts';
import { loadConfigText } from '../../src/config/load.ts';
import type { Config } from '../../src/config/schema.ts';
import { MemoryBus } from '../../src/fanout/memory-bus.ts';
import { systemClock } from '../../src/observe/clock.ts';
import type { Connection, FrameReceiver } from '../../src/ports/connection.ts';
import { SessionRegistry } from '../../src/session/registry.ts';
import { Session } from '../../src/session/session.ts';
import { loopbackPair } from '../../src/transport/loopback.ts';
import { recordedLog, recordedMeter } from './recorded.ts';

const never = new AbortController().signal;

/** A client's transport into a session that has no socket: the gateway's own parts, joined in memory. Gone when the test ends. */
export async function loopbackGateway(mcpServers: Readonly<Record<string, unknown>>): Promise<Transport> {
  const { gateway, registry, ready } = compose(configOf(mcpServers));
  await ready;
  const [dialClient, dialSession] = loopbackPair();
  const receiver: { session?: FrameReceiver } = {};
  const channel = await dialSession(
    {
      message: (text) => receiver.session?.frame(text),
      failed: () => {},
      closed: (cause) => receiver.session?.closed(1000, cause === undefined ? 'gateway' : 'client'),
    },
    never,
  );
  const connection: Connection = {
    send: (frame) => void channel.send(frame),
    close: () => void channel.close(),
    hold: () => {},
    pause: () => channel.pause(),
    resume: () => channel.resume(),
  };
  const session = new Session('loopback', ANYONE, connection, gateway, () => registry.remove('loopback'));
  receiver.session = session;
  registry.add(session);
  return transportOver(dialClient);
}

const ANYONE = principalOf(
  { issuer: 'anonymous', id: 'loopback', roles: ['anonymous'], scopes: [], claims: {}, expiresAt: null },
  { address: '127.0.0.1', via: 'websocket' },
);

function configOf(mcpServers: Readonly<Record<string, unknown>>): Config {
  const text = stringify({ auth: { mode: 'anonymous' }, audit: { sink: 'off' }, mcpServers });
  const loaded = loadConfigText(text, resolve('config/test.yaml'), process.env);
  if (!loaded.ok) throw new Error(loaded.problems.join('\n'));
  return loaded.config;
}

function compose(config: Config) {
  const shared = { config, clock: systemClock(), log: recordedLog(), meter: recordedMeter() };
  const surroundings = { environment: process.env, atExit: () => () => {}, growing: () => {} };
  const bus = new MemoryBus(shared.log);
  const upstreams = wireUpstreams(shared, { ...surroundings, bus });
  const audit = { record: () => {}, close: async () => {} };
  const seal = createSeal([], shared.clock);
  const gateway = sessionGateway(shared, { policy: policyOf(shared), upstreams, audit, seal, verifier: undefined });
  const registry = new SessionRegistry();
  const stopNews = startNews(shared, bus, registry);
  upstreams.pool.start();
  onTestFinished(async () => {
    stopNews();
    await upstreams.close();
    await bus.close();
  });
  return { gateway, registry, ready: upstreams.readiness.firstAnswers(10_000) };
}

/** The SDK's side of the pair. */
function transportOver(dial: ReturnType<typeof loopbackPair>[0]): Transport {
  let channel: Awaited<ReturnType<typeof dial>> | undefined;
  const transport: Transport = {
    start: async () => {
      channel = await dial(
        {
          message: (text) => transport.onmessage?.(JSON.parse(text)),
          failed: () => {},
          closed: () => transport.onclose?.(),
        },
        never,
      );
    },
    send: async (message) => {
      if (channel?.send(JSON.stringify(message)) !== true) throw new Error('the channel has ended');
    },
    close: async () => channel?.close(),
  };
  return transport;
}
