import { expect, test } from 'vitest';
import { openSocket } from '../../src/client/socket.ts';
import { rawServer } from '../support/raw-server.ts';

test('a socket that is paused at once reads nothing until it is resumed', async () => {
  const { url, accept } = await rawServer({ greeting: ['1', '2'] });
  const heard: string[] = [];
  const socket = await openSocket(
    {
      url: new URL(url),
      protocols: [],
      headers: {},
      maxMessage: 1000,
      heartbeat: { pingInterval: 25_000, pongTimeout: 10_000 },
      inOneTurn: 'many',
    },
    { message: (text) => heard.push(text), dropped() {}, closed: ({ code }) => heard.push(`closed ${code}`) },
    new AbortController().signal,
  );
  socket.pause();
  const peer = await accept();
  for (let round = 0; round < 10; round += 1) {
    socket.send(`round ${round}`);
    expect(await peer.next()).toBe(`round ${round}`);
  }
  expect(heard).toEqual([]);
  socket.resume();
  await expect.poll(() => heard).toEqual(['1', '2']);
  socket.pause();
  await socket.close();
  expect(heard).toEqual(['1', '2', 'closed 1000']);
});
