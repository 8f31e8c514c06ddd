import { expect, onTestFinished, test } from 'vitest';
import { fakeClock } from '../support/fake-clock.ts';
import { recordFile } from '../support/file-gateway.ts';
import { startGateway, stdioUpstream } from '../support/gateway.ts';
import { cancellation, textAnswer, toolCall } from '../support/messages.ts';
import { openRaw, type RawClient } from '../support/raw-client.ts';

const PATIENT = { timeout: 20_000 };
const PONG = '{"jsonrpc":"2.0","id":"after","result":{}}';
const record = recordFile();

/** A shared upstream that stops reading when it is told to, on a clock of its own; and two clients. */
async function opened() {
  const clock = fakeClock();
  const gateway = await startGateway(
    {
      limits: { pingInterval: '60m' },
      mcpServers: { up: stdioUpstream('plain.mjs', [record.path], { isolation: 'shared' }) },
    },
    clock,
  );
  await gateway.ready();
  const [writer, other] = [await openRaw(gateway.url), await openRaw(gateway.url)];
  const answered = await writer.ask(toolCall('pid', 'up__pid'));
  const pid = Number(Object(answered).result.content[0].text);
  onTestFinished(() => void process.kill(pid, 'SIGCONT'));
  return { clock, writer, other, signal: (name: 'SIGSTOP' | 'SIGCONT') => void process.kill(pid, name) };
}

/** More than the pipe is to hold, and behind it a ping. */
function fill(writer: RawClient): void {
  for (const id of [1, 2]) writer.send(toolCall(id, 'up__echo', { text: 'é', filling: 'x'.repeat(1_500_000) }));
  writer.send({ jsonrpc: '2.0', id: 'after', method: 'ping' });
}

/** How many answers have come, counted beside the client's own reading of them. */
function counted(client: RawClient): () => number {
  let count = 0;
  client.socket.on('message', () => {
    count += 1;
  });
  return () => count;
}

test('a client is not read while its upstream’s pipe is full, nobody else waits, and it goes on when that has drained', async () => {
  const { clock, writer, other, signal } = await opened();
  signal('SIGSTOP');
  const answers = counted(writer);
  fill(writer);
  for (let round = 0; round < 50; round += 1) await other.barrier();
  expect(answers()).toBe(0);
  signal('SIGCONT');
  await expect
    .poll(() => {
      clock.advance(10);
      return answers();
    }, PATIENT)
    .toBe(3);
  const got = [await writer.next(), await writer.next(), await writer.next()];
  expect(got).toContain(PONG);
  expect(got).toContain(JSON.stringify(textAnswer(2, 'é')));
}, 60_000);

test('a pipe that does not move for a second is waited for no longer, and cancellations reach it when it does', async () => {
  const { clock, writer, other, signal } = await opened();
  signal('SIGSTOP');
  const answers = counted(writer);
  fill(writer);
  writer.send(cancellation(1));
  for (let round = 0; round < 50; round += 1) await other.barrier();
  clock.advance(990);
  for (let round = 0; round < 50; round += 1) await other.barrier();
  expect(answers()).toBe(0);
  clock.advance(50);
  expect(await writer.next()).toBe(PONG);
  // It is given no second pause, and what it says next is heard at once.
  writer.send(toolCall(3, 'up__echo', { text: 'three' }));
  expect(await writer.barrier()).toEqual([]);
  signal('SIGCONT');
  await expect.poll(record.lines, PATIENT).toContainEqual(expect.stringMatching(/^cancelled/));
  expect(await writer.json()).toEqual(textAnswer(2, 'é'));
  expect(await writer.json()).toEqual(textAnswer(3, 'three'));
}, 60_000);
