import type { TcpListenerDeps } from '../http/tcp-listener.ts';
import type { UpgradeDeps } from '../http/upgrade.ts';
import type { Gateway } from '../session/context.ts';
import type { SessionRegistry } from '../session/registry.ts';
import { Session } from '../session/session.ts';
import { type BoundSocket, bindWebSocket } from '../transport/websocket.ts';
import type { Shared } from './shared.ts';

/** Gives each socket that comes in, over whichever listener, a session of its own; `buffered` is what waits in all of them, in bytes. */
export function acceptSockets({ config, ...deps }: Shared, registry: SessionRegistry, gateway: Gateway) {
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
