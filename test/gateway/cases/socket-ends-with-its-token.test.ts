import { expect, test } from 'vitest';
import { errorAnswer, textAnswer, toolCall } from '../../support/messages.ts';
import { type Asked, offering, scriptedUpstream } from '../../support/scripted-upstream.ts';
import { tokenGateway } from '../../support/token-gateway.ts';

const EXPIRED = { code: 4401, reason: 'unauthenticated' };

async function gatewayHolding() {
  const held: Asked[] = [];
  const up = await scriptedUpstream({ ...offering('hold'), 'tools/call': (asked) => void held.push(asked) });
  const auth = { clockTolerance: '2s', expiryGrace: '10s' };
  return { ...(await tokenGateway({ auth, mcpServers: { up: up.entry } })), held };
}

test('a socket outlives its token of 3 s by the tolerance alone: an idle one closes 4401, a busy one when its call has ended', async () => {
  const { open, clock, held } = await gatewayHolding();
  const [idle, answered, unanswered] = [await open(3), await open(3), await open(3)];
  answered.send(toolCall(1, 'up__hold'));
  await expect.poll(() => held.length).toBe(1);
  unanswered.send(toolCall(1, 'up__hold'));
  await expect.poll(() => held.length).toBe(2);
  clock.advance(4_999);
  expect(await idle.barrier()).toEqual([]);
  clock.advance(1);
  expect(await idle.closed).toEqual(EXPIRED);
  const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' };
  expect(await answered.ask(list)).toEqual(errorAnswer(2, -32600, 'The token has expired'));
  clock.advance(9_999);
  held[0]?.result({ content: [{ type: 'text', text: 'in time' }] });
  expect(await answered.json()).toEqual(textAnswer(1, 'in time'));
  expect(await answered.closed).toEqual(EXPIRED);
  expect(await unanswered.ask(list)).toEqual(errorAnswer(2, -32600, 'The token has expired'));
  clock.advance(1);
  expect(await unanswered.json()).toMatchObject({ id: 1, error: { code: -32603 } });
  expect(await unanswered.closed).toEqual(EXPIRED);
});
