import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';

/** The children behind the gateway, by what they say of themselves: which calls each has in hand. */
export class Children {
  private readonly calls = new Map<number, readonly string[]>();
  private readonly sockets = new Set<Socket>();
  private readonly server = createServer((socket) => this.connected(socket));

  /** Returns the port children report to. */
  async listen(): Promise<number> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return (this.server.address() as AddressInfo).port;
  }

  /** Those with a call in hand. */
  get busy(): { readonly pid: number; readonly calls: readonly string[] }[] {
    return [...this.calls].filter(([, calls]) => calls.length > 0).map(([pid, calls]) => ({ pid, calls }));
  }

  close(): void {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
  }

  private connected(socket: Socket): void {
    let pid = 0;
    this.sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => {
      this.sockets.delete(socket);
      this.calls.delete(pid);
    });
    createInterface({ input: socket }).on('line', (line) => {
      const told: { pid: number; calls: string[] } = JSON.parse(line);
      pid = told.pid;
      this.calls.set(pid, told.calls);
    });
  }
}
