import { createCluster } from '@redis/client';
import type { ClusterAddress } from '../config/redis-address.ts';
import { CLIENT, OPEN_MS, type Reply, socketOptions, type Wire, within } from './wire.ts';

/**
 * A connection to a cluster: to the node that has the slot of the gateway's keys, once there is a command for it. The
 * library follows a slot to another node (MOVED, ASK); a node that is lost ends it.
 */
export async function dialCluster(address: ClusterAddress, ca: string | undefined): Promise<Wire> {
  const { nodes, username, password } = address;
  const socket = socketOptions({ tls: address.tls, ca });
  const cluster = createCluster({
    RESP: 2,
    rootNodes: nodes.map(({ host, port }) => ({ socket: { ...socket, host, port } })),
    defaults: {
      ...CLIENT,
      ...(username === undefined ? {} : { username }),
      ...(password === undefined ? {} : { password }),
      socket,
    },
    minimizeConnections: true,
  });
  const listeners: ((reason: Error) => void)[] = [];
  // Of looking for the nodes; what comes of it is said by what looked.
  cluster.on('error', () => {});
  cluster.on('node-error', (reason: Error) => {
    for (const listener of listeners.splice(0)) listener(reason);
  });
  const destroy = () => {
    listeners.length = 0;
    cluster.destroy();
  };
  await within(OPEN_MS, cluster.connect(), destroy);
  return {
    send: (key, args) => cluster.sendCommand<Reply>(key, false, [...args]),
    onLost: (listener) => void listeners.push(listener),
    destroy,
  };
}
