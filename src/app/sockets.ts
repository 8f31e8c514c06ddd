import type { TcpListenerDeps } from '../http/tcp-listener.ts';
import type { UpgradeDeps } from '../http/upgrade.ts';
import type { Gateway } from '../session/context.ts';
import type { SessionRegistry } from '../session/registry.ts';
import { Session } from '../session/session.ts';
import type { BufferTotal } from '../transport/buffer-total.ts';
import { bindWebSocket } from '../transport/websocket.ts';
import type { Shared } from './shared.ts';

/**
 * Gives each socket that comes in, over whichever listener, a session of its own, of which `joined` hears, and counts what
 * waits in it among `buffers`.
 */
export function acceptSockets(
  { config, ...deps }: Shared,
  registry: SessionRegistry,
  gateway: Gateway,
  buffers: BufferTotal,
  joined: (session: Session) => void,
) {
  const open = deps.meter.gauge('connections', {});
  const opened = deps.meter.counter('connections_opened_total', {});
  const acceptTcp: TcpListenerDeps['accept'] = (id, principal, bind) => {
    const ended = () => {
      buffers.remove(id);
      open.add(-1);
      registry.remove(id);
    };
    const connection = bind((own) => {
      const session = new Session(id, principal, own, gateway, ended);
      registry.add(session);
      opened.add();
      open.add(1);
      return session;
    });
    const session = registry.get(id);
    if (session === undefined) return;
    buffers.add(id, connection);
    joined(session);
  };
  const accept: UpgradeDeps['accept'] = (id, principal, socket, stream) =>
    acceptTcp(id, principal, (receiverOf) =>
      bindWebSocket(
        socket,
        stream,
        config.limits,
        { ...deps, growing: buffers.growing, random: Math.random },
        receiverOf,
      ),
    );
  return { accept, acceptTcp };
}
