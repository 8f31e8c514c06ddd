import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';

/**
 * What a broadcast costs at the least: sends each text its parent gives it to every socket it has, and tells when it began,
 * in nanoseconds of the machine's monotonic clock. It reads nothing.
 */
const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false });
process.on('message', (text) => {
  const began = process.hrtime.bigint();
  for (const socket of server.clients) socket.send(String(text));
  process.send?.({ began: String(began) });
});
process.on('disconnect', () => process.exit());
server.on('listening', () => {
  const { port } = server.address() as AddressInfo;
  process.send?.({ url: `ws://127.0.0.1:${port}` });
});
