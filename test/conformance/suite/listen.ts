import { once } from 'node:events';
import type { Server } from 'node:http';

export interface Listening {
  /** Where it serves MCP: `http://127.0.0.1:<port>/mcp`. */
  readonly url: string;
  /** Ends every connection and stops listening. */
  close(): Promise<void>;
}

/** Listens on a free port of this machine. */
export async function listen(server: Server): Promise<Listening> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not listening on a port');
  return {
    url: `http://127.0.0.1:${address.port}/mcp`,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
