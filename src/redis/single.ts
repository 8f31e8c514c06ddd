import { createClient } from '@redis/client';
import type { RedisNode } from '../config/redis-address.ts';
import { CLIENT, OPEN_MS, type Reply, type SocketChoice, socketOptions, type Wire, within } from './wire.ts';

export interface ServerChoice extends SocketChoice {
  readonly node: RedisNode;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly database?: number;
}

/** A connection to one server, authenticated and at its database. */
export async function dialServer(choice: ServerChoice): Promise<Wire> {
  const { node, username, password, database = 0 } = choice;
  const client = createClient({
    ...CLIENT,
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    database,
    socket: { ...socketOptions(choice), host: node.host, port: node.port },
  });
  const listeners: ((reason: Error) => void)[] = [];
  client.on('error', (reason: Error) => {
    for (const listener of listeners.splice(0)) listener(reason);
  });
  const destroy = () => {
    listeners.length = 0;
    client.destroy();
  };
  await within(OPEN_MS, client.connect(), destroy);
  return {
    send: (_key, args) => client.sendCommand<Reply>(args),
    onLost: (listener) => void listeners.push(listener),
    destroy,
  };
}
