import { expect, test } from 'vitest';
import { fileGateway } from '../support/file-gateway.ts';
import { stdioUpstream } from '../support/gateway.ts';
import { errorAnswer, textAnswer, toolCall } from '../support/messages.ts';
import { openRaw } from '../support/raw-client.ts';

const gateway = fileGateway({
  mcpServers: {
    bad: stdioUpstream('faulty.mjs', [], { timeout: '700ms' }),
    'bad-shared': stdioUpstream('faulty.mjs', [], { timeout: '700ms', isolation: 'shared' }),
    good: stdioUpstream('plain.mjs', [], { isolation: 'shared' }),
  },
});
const closed = errorAnswer('f', -32603, 'The upstream went away during the call', {
  reason: 'upstream_closed',
  retryable: true,
});
const timedOut = errorAnswer('f', -32603, 'The upstream did not answer in time', {
  reason: 'timeout',
  retryable: false,
});
const refused = errorAnswer('f', -32603, 'The answer of the upstream is too large or malformed', {
  reason: 'too_large',
  retryable: false,
});

const FAULTS = [
  ['logs JSON on stdout, around an answer', 'logs', textAnswer('f', 'logs')],
  ['writes bytes that are no text, and half a message', 'garbage', textAnswer('f', 'garbage')],
  ['answers twice', 'twice', textAnswer('f', 'twice')],
  ['answers what nobody asked', 'others', textAnswer('f', 'others')],
  ['answers with a result and an error in one', 'both', refused],
  ['dies', 'die', closed],
  ['closes its stdout', 'mute', closed],
  ['hangs', 'hang', timedOut],
] as const;

test.each(
  FAULTS.flatMap(([what, tool, outcome]) => ['bad', 'bad-shared'].map((key) => [what, key, tool, outcome] as const)),
)(
  'an upstream that %s (%s): its call ends once, others go on, and so does the socket',
  async (_what, key, tool, outcome) => {
    const [client, other] = [await openRaw(gateway().url), await openRaw(gateway().url)];
    // After the one before it, a shared one may have to come back.
    const works = () => other.ask(toolCall(0, `${key}__echo`));
    await expect.poll(works, { timeout: 10_000 }).toEqual(textAnswer(0, 'echo'));
    client.send(toolCall('held', 'good__hold', { key: `${key} ${tool}` }));
    client.send(toolCall('f', `${key}__${tool}`));
    expect(await other.ask(toolCall(1, 'good__echo', { text: 'meanwhile' }))).toEqual(textAnswer(1, 'meanwhile'));
    expect(await client.json()).toEqual(outcome);
    expect(await other.ask(toolCall(2, 'good__release', { key: `${key} ${tool}` }))).toEqual(textAnswer(2, 'released'));
    expect(await client.json()).toEqual(textAnswer('held', `${key} ${tool}`));
    expect(await client.barrier()).toEqual([]);
  },
);
