import { resolve } from 'node:path';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import { principalOf } from '../../src/auth/principal.ts';
import { createSeal } from '../../src/auth/seal.ts';
import { SpentByPrincipal } from '../../src/auth/spent-by-principal.ts';
import { Catalogue } from '../../src/catalogue/catalogue.ts';
import { Keeper } from '../../src/catalogue/keeper.ts';
import { Readiness } from '../../src/catalogue/readiness.ts';
import { loadConfigText } from '../../src/config/load.ts';
import type { Config } from '../../src/config/schema.ts';
import { fanOut } from '../../src/fanout/changes.ts';
import { MemoryBus } from '../../src/fanout/memory-bus.ts';
import { systemClock } from '../../src/observe/clock.ts';
import { compilePolicy } from '../../src/policy/access.ts';
import type { Connection, FrameReceiver } from '../../src/ports/connection.ts';
import { CallRecorder } from '../../src/session/call-recorder.ts';
import type { Gateway } from '../../src/session/context.ts';
import { Rates } from '../../src/session/rates.ts';
import { SessionRegistry } from '../../src/session/registry.ts';
import { Session } from '../../src/session/session.ts';
import { VendorMethods } from '../../src/session/vendor-methods.ts';
import { loopbackPair } from '../../src/transport/loopback.ts';
import { upstreamOptions } from '../../src/upstream/configured.ts';
import { UpstreamPool } from '../../src/upstream/pool.ts';
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
  const catalogue = new Catalogue({ ...shared, upstreams: config.mcpServers, naming: config.naming });
  const readiness = new Readiness(config.mcpServers, shared.clock);
  const bus = new MemoryBus(shared.log);
  const keeper = new Keeper({
    ...shared,
    upstreams: config.mcpServers,
    coalesceMs: config.timing.listChangeCoalesce,
    catalogue,
    readiness,
    bus,
    catalogueLink: (upstream) => pool.catalogueLink(upstream),
  });
  const options = upstreamOptions(config, { ...shared, environment: process.env, atExit: () => () => {} });
  const pool = new UpstreamPool(options, { ...shared, random: Math.random }, keeper);
  const registry = new SessionRegistry();
  const stopFanOut = fanOut(bus, () => registry.clients(), shared.meter, shared.log);
  const policy = compilePolicy(config.policy, config.auth.mode, { onError: () => {} });
  if (!policy.ok) throw new Error(policy.problems.join('; '));
  const spent = new SpentByPrincipal(shared.clock);
  const gateway: Gateway = {
    ...shared,
    links: pool,
    recorder: new CallRecorder({ ...shared, audit: { record: () => {}, close: async () => {} } }),
    vendor: new VendorMethods(config.mcpServers),
    rates: new Rates(config.limits.requestsPerSecond, shared.clock),
    random: Math.random,
    renewal: undefined,
    seal: createSeal(config.seal.keys, shared.clock),
    spend: (principal, nonce, expiresAt) => spent.spend(principal, nonce, expiresAt),
    unspend: (principal, nonce, expiresAt) => spent.forgive(principal, nonce, expiresAt),
    limits: { ...config.limits, ...config.auth, ...config.timing },
    snapshot: () => catalogue.snapshot,
    relistTools: (upstream) => keeper.relistTools(upstream),
    grants: (principal) => policy.policy.grants(principal),
    firstAnswers: () => readiness.firstAnswers(3000),
  };
  pool.start();
  onTestFinished(async () => {
    stopFanOut();
    keeper.close();
    readiness.close();
    await pool.close();
    await bus.close();
  });
  return { gateway, registry, ready: readiness.firstAnswers(10_000) };
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
