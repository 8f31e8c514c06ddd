import { expect, onTestFinished, test } from 'vitest';
import { fakeClock } from '../support/fake-clock.ts';
import { startGateway, stdioUpstream } from '../support/gateway.ts';
import { toolCall } from '../support/messages.ts';
import { openRaw } from '../support/raw-client.ts';

const PONG = '{"jsonrpc":"2.0","id":"after","result":{}}';

test('a client is not read either while the notifications it wrote fill the pipe of its own upstream', async () => {
  const clock = fakeClock();
  const limits = { pingInterval: '60m' };
  const gateway = await startGateway({ limits, mcpServers: { up: stdioUpstream('plain.mjs') } }, clock);
  await gateway.ready();
  const writer = await openRaw(gateway.url, {}, { roots: { listChanged: true } });
  const other = await openRaw(gateway.url);
  const answered = await writer.ask(toolCall('pid', 'up__pid'));
  const pid = Number(Object(answered).result.content[0].text);
  onTestFinished(() => void process.kill(pid, 'SIGCONT'));
  const answers: string[] = [];
  writer.socket.on('message', (data) => answers.push(String(data)));
  process.kill(pid, 'SIGSTOP');
  const params = { _meta: { filling: 'x'.repeat(1_500_000) } };
  for (const method of ['notifications/roots/list_changed', 'notifications/roots/list_changed'])
    writer.send({ jsonrpc: '2.0', method, params });
  writer.send({ jsonrpc: '2.0', id: 'after', method: 'ping' });
  for (let round = 0; round < 50; round += 1) await other.barrier();
  expect(answers).toEqual([]);
  process.kill(pid, 'SIGCONT');
  const goOn = () => {
    clock.advance(10);
    return answers;
  };
  await expect.poll(goOn, { timeout: 20_000 }).toEqual([PONG]);
}, 60_000);
