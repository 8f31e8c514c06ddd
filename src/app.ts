import { startTcp, upgradeOptions } from './app/listeners.ts';
import { policyOf, sessionGateway } from './app/sessions.ts';
import type { Shared } from './app/shared.ts';
import { acceptSockets } from './app/sockets.ts';
import { type Surroundings, wireUpstreams } from './app/upstreams.ts';
import { jwtVerifier } from './auth/jwt.ts';
import type { Config } from './config/schema.ts';
import { fanOut } from './fanout/changes.ts';
import { certificateAuthentication } from './http/authenticate.ts';
import { drain } from './http/drain.ts';
import { type Address, listen, type TcpAddress } from './http/listen.ts';
import { startOps } from './http/ops.ts';
import { Pending } from './http/pending.ts';
import { Slots } from './http/slots.ts';
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
}

export interface App {
  readonly address: Address;
  readonly ops: Address;
  /** Of the TCP listener, where there is one. */
  readonly tcp: TcpAddress | undefined;
  /** Drains, then releases everything. Idempotent. */
  close(): Promise<void>;
}

/** Constructs and wires the gateway; resolves when both listeners accept connections, rejects with one sentence. */
export async function startApp(options: AppOptions): Promise<App> {
  const { config, configHash, log, clock = systemClock() } = options;
  const metrics = createMetrics({ version: GATEWAY_VERSION, configHash });
  const shared: Shared = { config, clock, log, meter: metrics.meter };
  const policy = policyOf(shared);
  const tls = config.listen.tls === null ? undefined : await openTls(config.listen.tls, shared);
  const audit = createAudit(
    { sink: config.audit.sink, arguments: config.audit.arguments === 'none' ? 'none' : 'keys' },
    shared,
  );
  const upstreams = wireUpstreams(shared, options);
  const registry = new SessionRegistry();
  const stopFanOut = fanOut(upstreams.bus, () => registry.clients(), shared.meter, log);
  const sockets = acceptSockets(shared, registry, sessionGateway(shared, { policy, upstreams, audit }));
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
