import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { fileWith } from '../support/config-fixtures.ts';
import { freePort } from '../support/free-port.ts';
import { openGateway } from '../support/gateway.ts';
import { failToServe } from '../support/serving.ts';

const SEAL = { keys: ['a seal key of replicas in tests, 32 bytes'] };

/** A server that has one answer to whatever it is asked: enough for a gateway to keep a connection to it. */
async function answeringRedis(): Promise<string> {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on('error', () => {}).on('close', () => open.delete(socket));
    socket.on('data', () => socket.write('+none\r\n'));
  });
  const port = await listening(server);
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
  });
  return `redis://127.0.0.1:${port}`;
}

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('no port');
  return address.port;
}

const jwt = (jwksFile: string) => ({
  mode: 'jwt',
  resource: 'https://mcp.example/mcp',
  issuers: [{ issuer: 'https://idp.example', keys: { jwksFile } }],
});

test('a gateway that cannot start keeps no connection to Redis, and so its process ends', async () => {
  const bus = { redis: await answeringRedis() };
  const ended = await failToServe({
    auth: jwt('no-such.json'),
    policy: null,
    seal: SEAL,
    bus,
    log: { level: 'error' },
  });
  expect(ended).toEqual({ code: 1, stderr: 'Issuer https://idp.example: jwksFile cannot be read\n' });
});

test('a gateway that cannot start listens nowhere', async () => {
  const [listen, ops, admin, tcp] = [await freePort(), await freePort(), await freePort(), await freePort()];
  const tokenFile = fileWith('admin-token', 'an-admin-token-of-the-tests-0123456789');
  const others = { ops: { port: ops }, admin: { port: admin, tokenFile } };
  const taken = await listening(createServer());
  await expect(openGateway({ ...others, listen: { port: taken, tcp: { port: tcp } } })).rejects.toThrow(
    `port ${taken} on 127.0.0.1 is already in use (listen.port)`,
  );
  await expect(openGateway({ ...others, listen: { port: listen, tcp: { port: taken } } })).rejects.toThrow(
    'cannot start the TCP listener: EADDRINUSE (listen.tcp)',
  );
  for (const port of [listen, ops, admin, tcp]) await canListen(port);
});

async function canListen(port: number): Promise<void> {
  const server = createServer();
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  server.close();
}
