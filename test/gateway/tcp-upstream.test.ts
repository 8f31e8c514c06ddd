import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { lineReader } from '../../src/transport/line-framing.ts';
import { exactUpstreamKit, longAnswerKit } from '../kits/exact-upstream-kit.ts';
import { socketUpstreamKit } from '../kits/socket-upstream-kit.ts';
import { exactAnswer } from '../support/exact-peer.ts';
import { startGateway } from '../support/gateway.ts';
import { textAnswer, toolCall } from '../support/messages.ts';
import { openRaw } from '../support/raw-client.ts';
import { tcpLibrary } from '../support/socket-library.ts';

socketUpstreamKit(tcpLibrary);
exactUpstreamKit(() => exactEntry());
longAnswerKit(() => exactEntry());

/** A bare server that says `greeting` to each connection, then answers as `exactAnswer` does. */
async function exactEntry(greeting = '') {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.write(greeting);
    const onLine = (line: string) => {
      const answer = exactAnswer(line);
      if (answer !== undefined) socket.write(`${answer}\r\n`);
    };
    const reader = lineReader({ maxLine: 1e6, onLine, onOversize: () => {} });
    socket.on('data', (chunk: Buffer) => reader.push(chunk));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not listening on a port');
  return { url: `tcp://127.0.0.1:${address.port}` };
}

test('noise and empty lines are ignored', async () => {
  const gateway = await startGateway({ mcpServers: { up: await exactEntry('welcome\n\n\r\n[1]\n') } });
  await gateway.ready();
  const client = await openRaw(gateway.url);
  expect(await client.ask(toolCall(1, 'up__echo'))).toMatchObject({ id: 1, result: { content: [] } });
  expect(await gateway.metrics()).toContain('unexpected_answers_total{source="upstream",kind="noise"} 6\n');
});

test('the TCP listener of a gateway is such an upstream', async () => {
  const library = await tcpLibrary();
  const inner = await startGateway({ listen: { port: 0, tcp: { port: 0 } }, mcpServers: { in: library.entry } });
  await inner.ready();
  const port = inner.tcp !== undefined && 'port' in inner.tcp ? inner.tcp.port : 0;
  const outer = await startGateway({ mcpServers: { out: { url: `tcp://127.0.0.1:${port}` } } });
  await outer.ready();
  const client = await openRaw(outer.url);
  expect(await client.ask(toolCall(1, 'out__in__echo', { text: 'twice' }))).toMatchObject(textAnswer(1, 'twice'));
});
