import { describe, expect, test } from 'vitest';
import {
  CALLS,
  done,
  EAGER,
  ONE,
  openListening,
  patient,
  SUBSCRIBABLE,
  subscribe,
  TWO,
  UPDATED,
  unexpected,
  updated,
} from '../support/listening-gateway.ts';
import { toolCall } from '../support/messages.ts';
import { acknowledge, cancelled, listens, stamped } from '../support/modern-script.ts';
import { openRaw } from '../support/raw-client.ts';
import type { Asked, Script } from '../support/scripted-upstream.ts';

describe('subscriptions on a modern upstream', () => {
  test('are one listen for all; its updates reach the subscribers', async () => {
    const { upstream, gateway, heard } = await openListening({ script: EAGER });
    const [first, second] = [await openRaw(gateway.url), await openRaw(gateway.url)];
    subscribe(first, ONE);
    expect(await first.json()).toEqual(done(ONE));
    subscribe(second, ONE);
    expect(await second.json()).toEqual(done(ONE));
    const [listen] = await heard(1);
    expect(listen?.notifications).toEqual({ resourceSubscriptions: [ONE] });
    listen?.link.send(stamped(UPDATED, listen.id, { uri: ONE }));
    expect([await first.json(), await second.json()]).toEqual([updated(ONE), updated(ONE)]);
    expect(upstream.links).toHaveLength(1);
  });

  test('a change is a new listen, and the one before ends only when that is acknowledged', async () => {
    const { script, asked } = patient();
    const { gateway, heard } = await openListening({ script });
    const client = await openRaw(gateway.url);
    subscribe(client, ONE);
    const [first] = await heard(1);
    if (first === undefined || asked[0] === undefined) throw new Error('no listen');
    acknowledge(asked[0]);
    expect(await client.json()).toEqual(done(ONE));
    subscribe(client, TWO);
    const [, second] = await heard(2);
    if (second === undefined || asked[1] === undefined) throw new Error('no second listen');
    expect(second.notifications).toEqual({ resourceSubscriptions: [ONE, TWO] });

    first.link.send(stamped(UPDATED, first.id, { uri: ONE }));
    expect(await client.json()).toEqual(updated(ONE));
    expect(cancelled(first.link)).toEqual([]);
    first.link.send(stamped(UPDATED, second.id, { uri: ONE }));
    acknowledge(asked[1]);
    expect(await client.json()).toEqual(done(TWO));
    await expect.poll(() => cancelled(first.link)).toEqual([first.id]);

    first.link.send(stamped(UPDATED, first.id, { uri: ONE }));
    first.link.send(stamped(UPDATED, 999, { uri: ONE }));
    first.link.send({ jsonrpc: '2.0', method: UPDATED, params: { uri: ONE } });
    first.link.send(stamped(UPDATED, second.id, { uri: TWO }));
    expect(await client.json()).toEqual(updated(TWO));
    expect([await unexpected(gateway, 'late'), await unexpected(gateway, 'unknown')]).toEqual([2, 2]);
  });

  test('changes while a listen is being opened are one more listen', async () => {
    const { script, asked } = patient();
    const { upstream, gateway, heard } = await openListening({ script: { ...script, ...CALLS } });
    const client = await openRaw(gateway.url);
    for (const uri of [ONE, TWO, 'note://three']) subscribe(client, uri);
    await heard(1);
    const rest = ['note://four', 'note://five'];
    for (const uri of rest) subscribe(client, uri);
    await client.ask(toolCall('behind', 'up__act'));
    expect(listens(upstream)).toHaveLength(1);
    const [first] = asked.splice(0);
    if (first === undefined) throw new Error('no listen');
    acknowledge(first);
    const [, last] = await heard(2);
    expect(last?.notifications).toEqual({ resourceSubscriptions: [ONE, TWO, 'note://three', ...rest] });
    const [second] = asked;
    if (second === undefined) throw new Error('no second listen');
    acknowledge(second);
    const answers = [];
    for (let at = 0; at < 5; at += 1) answers.push(await client.json());
    expect(answers).toEqual([ONE, TWO, 'note://three', ...rest].map(done));
  });

  test('with the last of them the listen ends', async () => {
    const { gateway, heard } = await openListening({ script: EAGER });
    const client = await openRaw(gateway.url);
    subscribe(client, ONE);
    await client.json();
    await client.ask({ jsonrpc: '2.0', id: 'u', method: 'resources/unsubscribe', params: { uri: ONE } });
    const [listen] = await heard(1);
    await expect.poll(() => listen && cancelled(listen.link)).toEqual([listen?.id]);
  });

  test('what the upstream does not honor is refused, and what it does is heard', async () => {
    const honorsOne: Script = {
      'subscriptions/listen': (asked) => acknowledge(asked, { resourceSubscriptions: [ONE] }),
    };
    const { gateway, heard } = await openListening({ script: honorsOne });
    const client = await openRaw(gateway.url);
    subscribe(client, TWO);
    expect(await client.json()).toMatchObject({ id: TWO, error: { code: -32602 } });
    subscribe(client, ONE);
    expect(await client.json()).toEqual(done(ONE));
    const [first, last] = await heard(2);
    expect(first && cancelled(first.link)).toEqual([first?.id]);
    expect(last?.notifications).toEqual({ resourceSubscriptions: [ONE] });
  });

  test.each([
    ['an error', (asked: Asked) => asked.error({ code: -32603, message: 'Subscription limit reached' })],
    ['its result', (asked: Asked) => asked.result({ resultType: 'complete' })],
  ])('one whose listen is ended at once with %s is refused, those before it stay', async (_what, end) => {
    const script: Script = {
      'subscriptions/listen': (asked) => (JSON.stringify(asked.params).includes(TWO) ? end(asked) : acknowledge(asked)),
    };
    const { gateway, heard } = await openListening({ script });
    const client = await openRaw(gateway.url);
    subscribe(client, ONE);
    await client.json();
    subscribe(client, TWO);
    expect(await client.json()).toMatchObject({ id: TWO, error: { code: -32602 } });
    const [listen] = await heard(2);
    listen?.link.send(stamped(UPDATED, listen.id, { uri: ONE }));
    expect(await client.json()).toEqual(updated(ONE));
  });

  test('an upstream that does not know listens is not asked again and again', async () => {
    const { gateway, heard } = await openListening({
      capabilities: { ...SUBSCRIBABLE, tools: { listChanged: true } },
    });
    await heard(1);
    const client = await openRaw(gateway.url);
    subscribe(client, ONE);
    expect(await client.json()).toMatchObject({ id: ONE, error: { code: -32602 } });
    await heard(2);
    expect(gateway.log.filter(({ event }) => event === 'listen_refused')).toHaveLength(2);
  });
});
