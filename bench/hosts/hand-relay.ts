import { spawn } from 'node:child_process';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { reportTo } from './report.ts';

/**
 * The floor: what anybody would write by hand to put one stdio server behind one WebSocket. Parses and stringifies each
 * message and gives it an id of its own; no session, no token, no policy, no limit, no metric.
 */
interface Message {
  id?: number | string;
  [key: string]: unknown;
}

const child = spawn(process.execPath, process.argv.slice(2), { stdio: ['pipe', 'pipe', 'inherit'] });
const pending = new Map<number, { socket: WebSocket; id: number | string }>();
let last = 0;
let waiting = '';

child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
  const lines = (waiting + chunk).split('\n');
  waiting = lines.pop() ?? '';
  for (const line of lines) {
    const message: Message = JSON.parse(line);
    const asked = pending.get(Number(message.id));
    if (asked === undefined) continue;
    pending.delete(Number(message.id));
    message.id = asked.id;
    asked.socket.send(JSON.stringify(message));
  }
});

const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false });
server.on('connection', (socket) => {
  socket.on('message', (data) => {
    const message: Message = JSON.parse(data.toString());
    if (message.id !== undefined) {
      last += 1;
      pending.set(last, { socket, id: message.id });
      message.id = last;
    }
    child.stdin.write(`${JSON.stringify(message)}\n`);
  });
});
server.on('listening', () => {
  const { port } = server.address() as AddressInfo;
  reportTo(`ws://127.0.0.1:${port}`);
});
process.on('exit', () => child.kill());
