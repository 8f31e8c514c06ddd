import { openAdmin } from './app/admin.ts';
import { limitBuffers } from './app/buffers.ts';
import { measureConfigured } from './app/configured.ts';
import { openDoor } from './app/door.ts';
import { startTcp, upgradeOptions } from './app/listeners.ts';
import { startNews } from './app/news.ts';
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

/** Constructs and wires the gateway; resolves when every listener accepts connections, rejects with one sentence. */
export async function startApp(options: AppOptions): Promise<App> {
  const { config, configHash, log, clock = systemClock() } = options;
  const metrics = createMetrics({ version: GATEWAY_VERSION, configHash });
  const shared: Shared = { config, clock, log, meter: metrics.meter };
  measureConfigured(config, metrics.meter);
  const policy = policyOf(shared);
  const tls = config.listen.tls === null ? undefined : await openTls(config.listen.tls, shared);
  const audit = createAudit(
    { sink: config.audit.sink, arguments: config.audit.arguments === 'none' ? 'none' : 'keys' },
    shared,
  );
  const buffers = limitBuffers(shared, () => upstreams.pool.backlogs());
  const replicas = joinReplicas(shared);
  const { bus, store } = replicas;
  const upstreams = wireUpstreams(shared, { ...options, bus, growing: buffers.growing });
  const registry = new SessionRegistry();
  const stopNews = startNews(shared, bus, registry);
  const verifier = config.auth.mode === 'jwt' ? jwtVerifier(config.auth, shared) : undefined;
  const seal = createSeal(config.seal.keys, clock);
  const gateway = sessionGateway(shared, { policy, upstreams, audit, seal, verifier });
  const drain = new Drain({ sessions: registry, clock, timing: config.timing.drain });
  const sockets = acceptSockets(shared, registry, gateway, buffers, (session) => drain.joined(session));
  const door = openDoor(shared, {
    audit,
    // An anonymous caller is its own principal: nobody counts it elsewhere.
    leases: config.auth.mode === 'jwt' ? replicas.leases : undefined,
    draining: () => drain.isRefusing,
    overloaded: () => server.isUnderPressure(),
  });
  const ways = {
    tls,
    certify: certificateAuthentication(config.auth, shared),
    tickets: createTickets({ store, seal, clock, clockTolerance: config.auth.clockTolerance }),
  };
  const pressure = options.pressure ?? defaultPressure();
  const serving = { ...upgradeOptions(shared, verifier, ways), pressure };
  const server = await upgradeServer(serving, {
    ...shared,
    ...door,
    accept: sockets.accept,
  });
  const release = async () => {
    tls?.close();
    stopNews();
    buffers.close();
    door.close();
    gateway.rates.close();
    await upstreams.close();
    await replicas.close();
    await verifier?.close();
    await audit.close();
    metrics.close();
  };
  const readiness = () => {
    const { ready, ...detail } = upstreams.readiness.detail;
    return { ready: ready && !drain.isTold, detail: { ...detail, ...replicas.detail() } };
  };
  const expose = () => {
    shared.meter.gauge('outbox_bytes', {}).set(buffers.outboxes);
    return metrics.expose();
  };
  try {
    const ops = await startOps(config.ops, { readiness, expose, log });
    const admin = await openAdmin(shared, { audit, publish: upstreams.announce }).catch(async (error: unknown) => {
      await ops.close();
      throw error;
    });
    const address = await listen(server, config.listen, 'listen').catch(async (error: unknown) => {
      await Promise.all([ops.close(), admin?.close()]);
      throw error;
    });
    const tcp = await startTcp(shared, ways, {
      ...shared,
      ...door,
      growing: buffers.growing,
      accept: sockets.acceptTcp,
    }).catch(async (error: unknown) => {
      await Promise.all([server.close(), ops.close(), admin?.close()]);
      throw error;
    });
    await replicas.opened;
    upstreams.pool.start();
    const stop = async () => {
      await drain.run();
      await Promise.all([server.close(), tcp?.close(), ops.close(), admin?.close()]);
      await release();
    };
    let closing: Promise<void> | undefined;
    const close = () => (closing ??= stop());
    const addresses = { address, ops: ops.address, admin: admin?.address, tcp: tcp?.address };
    return { ...addresses, close, force: () => drain.force() };
  } catch (error) {
    await release();
    throw error;
  }
}
