import { openAdmin } from './app/admin.ts';
import { limitBuffers } from './app/buffers.ts';
import { measureConfigured } from './app/configured.ts';
import { openDoor } from './app/door.ts';
import { startTcp, upgradeOptions } from './app/listeners.ts';
import { startNews } from './app/news.ts';
import { OpenParts } from './app/open-parts.ts';
import { joinReplicas } from './app/replicas.ts';
import { policyOf, sessionGateway } from './app/sessions.ts';
import type { Shared } from './app/shared.ts';
import { acceptSockets } from './app/sockets.ts';
import { type Surroundings, wireUpstreams } from './app/upstreams.ts';
import { jwtVerifier } from './auth/jwt.ts';
import { createSeal } from './auth/seal.ts';
import { createTickets } from './auth/ticket.ts';
import type { Config } from './config/schema.ts';
import { certificateAuthentication } from './http/authenticate.ts';
import { Drain } from './http/drain.ts';
import { type Address, listen, type TcpAddress } from './http/listen.ts';
import { startOps } from './http/ops.ts';
import { defaultPressure, type Pressure } from './http/pressure.ts';
import { openTls } from './http/tls.ts';
import { upgradeServer } from './http/upgrade.ts';
import { createAudit } from './observe/audit.ts';
import { systemClock } from './observe/clock.ts';
import { createMetrics } from './observe/metrics.ts';
import type { Clock } from './ports/clock.ts';
import type { Log } from './ports/log.ts';
import { GATEWAY_VERSION } from './protocol/gateway-info.ts';
import { SessionRegistry } from './session/registry.ts';

export interface AppOptions extends Surroundings {
  readonly config: Config;
  readonly configHash: string;
  readonly log: Log;
  /** Absent: the system's. */
  readonly clock?: Clock;
  /** Absent: what suits the memory there is. */
  readonly pressure?: Pressure;
}

export interface App {
  readonly address: Address;
  readonly ops: Address;
  /** Of the admin listener, where there is one. */
  readonly admin: Address | undefined;
  /** Of the TCP listener, where there is one. */
  readonly tcp: TcpAddress | undefined;
  /** Drains, then releases everything. Idempotent. */
  close(): Promise<void>;
  /** Whatever `close` waits for while it drains, it waits for no longer. */
  force(): void;
}

/** Constructs and wires the gateway; resolves when every listener accepts connections, rejects with one sentence and nothing left open. */
export async function startApp(options: AppOptions): Promise<App> {
  const parts = new OpenParts();
  try {
    return await openApp(options, parts);
  } catch (error) {
    // Whatever else fails now, this is why.
    await parts.close().catch(() => {});
    throw error;
  }
}

/** What it opens is among `parts`, from the moment it is open, in the order in which one needs the other. */
async function openApp(options: AppOptions, parts: OpenParts): Promise<App> {
  const { config, configHash, log, clock = systemClock() } = options;
  const metrics = createMetrics({ version: GATEWAY_VERSION, configHash });
  parts.keep(metrics);
  const shared: Shared = { config, clock, log, meter: metrics.meter };
  measureConfigured(config, metrics.meter);
  const policy = policyOf(shared);
  const tls = config.listen.tls === null ? undefined : await openTls(config.listen.tls, shared);
  parts.keep(tls);
  const audit = createAudit(
    { sink: config.audit.sink, arguments: config.audit.arguments === 'none' ? 'none' : 'keys' },
    shared,
  );
  parts.keep(audit);
  const buffers = limitBuffers(shared, () => upstreams.pool.backlogs());
  parts.keep(buffers);
  const replicas = joinReplicas(shared);
  parts.keep(replicas);
  const { bus, store } = replicas;
  const upstreams = wireUpstreams(shared, { ...options, bus, growing: buffers.growing });
  parts.keep(upstreams);
  const registry = new SessionRegistry();
  parts.keep({ close: startNews(shared, bus, registry) });
  const verifier = config.auth.mode === 'jwt' ? jwtVerifier(config.auth, shared) : undefined;
  parts.keep(verifier);
  const seal = createSeal(config.seal.keys, clock);
  const gateway = sessionGateway(shared, { policy, upstreams, audit, seal, verifier });
  parts.keep(gateway.rates);
  const drain = new Drain({ sessions: registry, clock, timing: config.timing.drain });
  const sockets = acceptSockets(shared, registry, gateway, buffers, (session) => drain.joined(session));
  const door = openDoor(shared, {
    audit,
    // An anonymous caller is its own principal: nobody counts it elsewhere.
    leases: config.auth.mode === 'jwt' ? replicas.leases : undefined,
    draining: () => drain.isRefusing,
    overloaded: () => server.isUnderPressure(),
  });
  parts.keep(door);
  const ways = {
    tls,
    certify: certificateAuthentication(config.auth, shared),
    tickets: createTickets({ store, seal, clock, clockTolerance: config.auth.clockTolerance }),
  };
  const pressure = options.pressure ?? defaultPressure();
  const serving = { ...upgradeOptions(shared, verifier, ways), pressure };
  const server = await upgradeServer(serving, { ...shared, ...door, accept: sockets.accept });
  parts.keep(server);
  const readiness = () => {
    const { ready, ...detail } = upstreams.readiness.detail;
    return { ready: ready && !drain.isTold, detail: { ...detail, ...replicas.detail() } };
  };
  const expose = () => {
    shared.meter.gauge('outbox_bytes', {}).set(buffers.outboxes);
    return metrics.expose();
  };
  const ops = await startOps(config.ops, { readiness, expose, log });
  parts.keep(ops);
  // Nobody is let in while a start may still wait: a signal would find sockets and nothing that drains them.
  await replicas.opened;
  const admin = await openAdmin(shared, { audit, publish: upstreams.announce });
  parts.keep(admin);
  const { growing } = buffers;
  const tcp = await startTcp(shared, ways, { ...shared, ...door, growing, accept: sockets.acceptTcp });
  parts.keep(tcp);
  // Before any listener is closed, for none closes while it has sessions.
  parts.keep({ close: () => drain.run() });
  const address = await listen(server, config.listen, 'listen').catch((error: unknown) => {
    drain.force();
    throw error;
  });
  upstreams.pool.start();
  const addresses = { address, ops: ops.address, admin: admin?.address, tcp: tcp?.address };
  return { ...addresses, close: () => parts.close(), force: () => drain.force() };
}
