import type { ResourceOptions } from './auth/challenge.ts';
import { jwtVerifier } from './auth/jwt.ts';
import { createSeal } from './auth/seal.ts';
import { Spent } from './auth/spent.ts';
import { Catalogue } from './catalogue/catalogue.ts';
import { Keeper } from './catalogue/keeper.ts';
import { Readiness } from './catalogue/readiness.ts';
import type { Config } from './config/schema.ts';
import { fanOut } from './fanout/changes.ts';
import { MemoryBus } from './fanout/memory-bus.ts';
import { type Certify, certificateAuthentication, jwtAuthentication } from './http/authenticate.ts';
import { drain } from './http/drain.ts';
import { type Address, listen, type TcpAddress } from './http/listen.ts';
import { startOps } from './http/ops.ts';
import { Pending } from './http/pending.ts';
import { Slots } from './http/slots.ts';
import { startTcpListener, type TcpListenerDeps } from './http/tcp-listener.ts';
import { openTls, type Tls } from './http/tls.ts';
import { type UpgradeDeps, type UpgradeOptions, upgradeServer } from './http/upgrade.ts';
import { createAudit } from './observe/audit.ts';
import { systemClock } from './observe/clock.ts';
import { createMetrics } from './observe/metrics.ts';
import { compilePolicy, type Policy } from './policy/access.ts';
import { defaultHosts } from './policy/origin.ts';
import type { Clock } from './ports/clock.ts';
import type { Log } from './ports/log.ts';
import type { Meter } from './ports/meter.ts';
import type { Verifier } from './ports/verifier.ts';
import { GATEWAY_VERSION } from './protocol/gateway-info.ts';
import { CallRecorder } from './session/call-recorder.ts';
import type { Gateway } from './session/context.ts';
import { SessionRegistry } from './session/registry.ts';
import { Session } from './session/session.ts';
import { VendorMethods } from './session/vendor-methods.ts';
import { type BoundSocket, bindWebSocket } from './transport/websocket.ts';
import { upstreamOptions } from './upstream/configured.ts';
import { UpstreamPool } from './upstream/pool.ts';

export interface AppOptions {
  readonly config: Config;
  readonly configHash: string;
  readonly log: Log;
  readonly environment: NodeJS.ProcessEnv;
  /** Absent: the system's. */
  readonly clock?: Clock;
  /** Keeps a synchronous task for the process's own exit; returns the way to withdraw it. */
  readonly atExit: (task: () => void) => () => void;
}

export interface App {
  readonly address: Address;
  readonly ops: Address;
  /** Of the TCP listener, where there is one. */
  readonly tcp: TcpAddress | undefined;
  /** Drains, then releases everything. Idempotent. */
  close(): Promise<void>;
}

interface Shared {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  readonly meter: Meter;
}

/** How long `initialize` waits for upstreams that have said nothing yet, in milliseconds. */
const FIRST_ANSWERS_MS = 3000;

/** Constructs and wires the gateway; resolves when both listeners accept connections, rejects with one sentence. */
export async function startApp(options: AppOptions): Promise<App> {
  const { config, configHash, log, environment, atExit, clock = systemClock() } = options;
  const metrics = createMetrics({ version: GATEWAY_VERSION, configHash });
  const shared: Shared = { config, clock, log, meter: metrics.meter };
  const policy = policyOf(shared);
  const tls = config.listen.tls === null ? undefined : await openTls(config.listen.tls, shared);
  const audit = createAudit(
    { sink: config.audit.sink, arguments: config.audit.arguments === 'none' ? 'none' : 'keys' },
    shared,
  );
  const upstreams = wireUpstreams(shared, environment, atExit);
  const registry = new SessionRegistry();
  const stopFanOut = fanOut(upstreams.bus, () => registry.clients(), shared.meter, log);
  const spent = new Spent(shared.clock);
  const gateway: Gateway = {
    ...shared,
    links: upstreams.pool,
    recorder: new CallRecorder({ ...shared, audit }),
    vendor: new VendorMethods(config.mcpServers),
    seal: createSeal(config.seal.keys, shared.clock),
    spend: (nonce, expiresAt) => spent.spend(nonce, expiresAt),
    unspend: (nonce, expiresAt) => spent.forgive(nonce, expiresAt),
    limits: { ...config.limits, ...config.auth, ...config.timing },
    snapshot: () => upstreams.catalogue.snapshot,
    relistTools: (upstream) => upstreams.keeper.relistTools(upstream),
    grants: (principal) => policy.grants(principal),
    firstAnswers: () => upstreams.readiness.firstAnswers(FIRST_ANSWERS_MS),
  };
  const sockets = acceptSockets(shared, registry, gateway);
  const verifier = config.auth.mode === 'jwt' ? jwtVerifier(config.auth, shared) : undefined;
  let closing: Promise<void> | undefined;
  const door = {
    slots: new Slots(config.limits),
    pending: new Pending(config.limits.handshakes.pending),
    draining: () => closing !== undefined,
  };
  const ways = { tls, certify: certificateAuthentication(config.auth, shared) };
  const server = await upgradeServer(upgradeOptions(shared, verifier, ways), {
    ...shared,
    ...door,
    accept: sockets.accept,
  });
  const release = async () => {
    tls?.close();
    stopFanOut();
    await upstreams.close();
    await verifier?.close();
    await audit.close();
    metrics.close();
  };
  const readiness = () => {
    const { ready, ...detail } = upstreams.readiness.detail;
    return { ready: ready && closing === undefined, detail };
  };
  const expose = () => {
    shared.meter.gauge('outbox_bytes', {}).set(sockets.buffered());
    return metrics.expose();
  };
  try {
    const ops = await startOps(config.ops, { readiness, expose, log });
    const address = await listen(server, config.listen, 'listen').catch(async (error: unknown) => {
      await ops.close();
      throw error;
    });
    const tcp = await startTcp(shared, ways, { ...shared, ...door, accept: sockets.acceptTcp }).catch(
      async (error: unknown) => {
        await Promise.all([server.close(), ops.close()]);
        throw error;
      },
    );
    upstreams.pool.start();
    const stop = async () => {
      await drain({ sessions: registry, clock, inFlight: config.timing.drain.inFlight });
      await Promise.all([server.close(), tcp?.close(), ops.close()]);
      await release();
    };
    return { address, ops: ops.address, tcp: tcp?.address, close: () => (closing ??= stop()) };
  } catch (error) {
    await release();
    throw error;
  }
}

function wireUpstreams(shared: Shared, environment: NodeJS.ProcessEnv, atExit: AppOptions['atExit']) {
  const { config, clock, log } = shared;
  const catalogue = new Catalogue({ ...shared, upstreams: config.mcpServers, naming: config.naming });
  const readiness = new Readiness(config.mcpServers, clock);
  const bus = new MemoryBus(log);
  const keeper = new Keeper({
    ...shared,
    upstreams: config.mcpServers,
    coalesceMs: config.timing.listChangeCoalesce,
    catalogue,
    readiness,
    bus,
    catalogueLink: (upstream) => pool.catalogueLink(upstream),
  });
  const options = upstreamOptions(config, { ...shared, environment, atExit });
  const pool = new UpstreamPool(options, { ...shared, random: Math.random }, keeper);
  const close = async () => {
    keeper.close();
    readiness.close();
    await pool.close();
    await bus.close();
  };
  return { catalogue, keeper, readiness, bus, pool, close };
}

function acceptSockets({ config, ...deps }: Shared, registry: SessionRegistry, gateway: Gateway) {
  const open = deps.meter.gauge('connections', {});
  const opened = deps.meter.counter('connections_opened_total', {});
  const bound = new Map<string, BoundSocket>();
  const acceptTcp: TcpListenerDeps['accept'] = (id, principal, bind) => {
    const ended = () => {
      bound.delete(id);
      open.add(-1);
      registry.remove(id);
    };
    const connection = bind((own) => {
      const session = new Session(id, principal, own, gateway, ended);
      registry.add(session);
      return session;
    });
    bound.set(id, connection);
    opened.add();
    open.add(1);
  };
  const accept: UpgradeDeps['accept'] = (id, principal, socket, stream) =>
    acceptTcp(id, principal, (receiverOf) =>
      bindWebSocket(socket, stream, config.limits, { ...deps, random: Math.random }, receiverOf),
    );
  const buffered = () => [...bound.values()].reduce((sum, connection) => sum + connection.buffered(), 0);
  return { accept, acceptTcp, buffered };
}

/** What a connection brings beside a token. */
interface Ways {
  readonly tls: Tls | undefined;
  /** Absent in anonymous mode, where certificates are not asked. */
  readonly certify: Certify | undefined;
}

async function startTcp({ config }: Shared, { tls, certify }: Ways, deps: TcpListenerDeps) {
  const { auth, limits, listen: main } = config;
  if (main.tcp === null) return undefined;
  const own = { at: main.tcp, tls: main.tcp.socket === undefined ? tls : undefined, certify };
  return startTcpListener({ ...limits, ...own, anonymousRoles: auth.anonymousRoles }, deps);
}

function upgradeOptions(
  { config, meter }: Shared,
  verifier: Verifier | undefined,
  { tls, certify }: Ways,
): UpgradeOptions {
  const { auth, listen: main, limits } = config;
  const resource: ResourceOptions | undefined = auth.mode === 'jwt' ? auth : undefined;
  const jwt =
    verifier === undefined || resource === undefined || certify === undefined
      ? undefined
      : { resource, certify, authenticate: jwtAuthentication(verifier, resource, meter) };
  return {
    path: main.path,
    maxMessage: limits.maxMessage,
    hosts: config.hosts ?? defaultHosts({ resource: resource?.resource, listenHost: main.host }),
    origins: config.origins,
    anonymousRoles: auth.anonymousRoles,
    tls,
    ...(jwt === undefined ? {} : { jwt }),
  };
}

function policyOf({ config, meter }: Shared): Policy {
  const onError = (effect: 'allow' | 'deny') => meter.counter('policy_errors_total', { effect }).add();
  const compiled = compilePolicy(config.policy, config.auth.mode, { onError });
  if (!compiled.ok) throw new Error(compiled.problems.join('; '));
  return compiled.policy;
}
