import { describe, expect, test } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import {
  CALLS,
  done,
  EAGER,
  keeping,
  ONE,
  openListening,
  patient,
  SUBSCRIBABLE,
  subscribe,
  TWO,
  updated,
} from '../support/listening-gateway.ts';
import { textAnswer, toolCall } from '../support/messages.ts';
import { acknowledge, cancelled, modernScript, stamped } from '../support/modern-script.ts';
import { openRaw } from '../support/raw-client.ts';
import { type Asked, type Script, scriptedUpstream } from '../support/scripted-upstream.ts';

describe('a listen that the upstream ends', () => {
  test.each([
    ['with its result', (asked: Asked) => asked.result({ resultType: 'complete' })],
    ['with an error', (asked: Asked) => asked.error({ code: -32603, message: 'no more' })],
    [
      'by cancelling it',
      (asked: Asked) =>
        asked.link.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: asked.id } }),
    ],
  ])('%s is opened anew, and each resource then hears one update', async (_how, end) => {
    const { script, asked } = keeping();
    const { gateway, heard } = await openListening({ script });
    const client = await openRaw(gateway.url);
    subscribe(client, ONE);
    await client.json();
    subscribe(client, TWO);
    await client.json();
    const last = asked.at(-1);
    if (last === undefined) throw new Error('no listen');
    end(last);
    const again = (await heard(3)).at(-1);
    expect(again?.notifications).toEqual({ resourceSubscriptions: [ONE, TWO] });
    expect([await client.json(), await client.json()]).toEqual([updated(ONE), updated(TWO)]);
    expect(await client.barrier()).toEqual([]);
    expect(cancelled(last.link)).not.toContain(last.id);
  });

  test.each(['shared', 'session'])('with its link is one listen on the next, with isolation %s', async (isolation) => {
    const modern = modernScript(SUBSCRIBABLE);
    let refuses = false;
    const script: Script = {
      ...EAGER,
      'tools/call': ({ error }) => {
        refuses = true;
        error({ code: -32022, message: 'not any more' });
      },
      'server/discover': (asked) => {
        if (refuses) asked.error({ code: -32601, message: 'Method not found' });
        else modern['server/discover']?.(asked);
        refuses = false;
      },
    };
    const { gateway, heard } = await openListening({ script, entry: { isolation } });
    const client = await openRaw(gateway.url);
    for (const uri of [ONE, TWO]) {
      subscribe(client, uri);
      await client.json();
    }
    expect(await client.ask(toolCall(1, 'up__act'))).toMatchObject({ error: { code: -32603 } });
    const again = (await heard(3)).at(-1);
    expect(again?.notifications).toEqual({ resourceSubscriptions: [ONE, TWO] });
    expect([await client.json(), await client.json()]).toEqual([updated(ONE), updated(TWO)]);
  });

  test('and whoever subscribes meanwhile is served by the next one', async () => {
    const { script, asked } = patient();
    const { gateway, heard } = await openListening({ script });
    const client = await openRaw(gateway.url);
    subscribe(client, ONE);
    await heard(1);
    asked[0]?.result({ resultType: 'complete' });
    expect(await client.json()).toMatchObject({ id: ONE, error: { code: -32602 } });
    subscribe(client, TWO);
    const [, second] = await heard(2);
    expect(second?.notifications).toEqual({ resourceSubscriptions: [TWO] });
    if (asked[1] === undefined) throw new Error('no second listen');
    acknowledge(asked[1]);
    expect(await client.json()).toEqual(done(TWO));
  });
});

describe('changes of lists', () => {
  const LISTS = { tools: { listChanged: true }, prompts: { listChanged: false }, resources: { listChanged: true } };

  test('are listened to on the link of the lists alone, as the upstream announces them', async () => {
    let tools = ['act'];
    const script: Script = {
      ...EAGER,
      'tools/list': ({ result }) =>
        result({ tools: tools.map((name) => ({ name, inputSchema: { type: 'object' } })), resultType: 'complete' }),
      ...CALLS,
    };
    const { upstream, gateway, heard } = await openListening({ capabilities: LISTS, script, entry: {} });
    const client = await openRaw(gateway.url);
    expect(await client.ask(toolCall(1, 'up__act'))).toMatchObject(textAnswer(1, 'called'));
    expect(upstream.links).toHaveLength(2);
    const [listen] = await heard(1);
    expect(listen?.notifications).toEqual({ toolsListChanged: true, resourcesListChanged: true });
    expect(listen?.link).toBe(upstream.links[0]);
    tools = ['act', 'more'];
    listen?.link.send(stamped('notifications/tools/list_changed', listen.id));
    expect(await client.json()).toEqual({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
  });

  test('are asked for before the lists, and those are read when that is acknowledged', async () => {
    const { script, asked } = patient();
    const upstream = await scriptedUpstream(modernScript(LISTS, script), { isolation: 'shared' });
    const gateway = await startGateway({ mcpServers: { up: upstream.entry } });
    await expect.poll(() => asked).toHaveLength(1);
    const methods = () => upstream.links[0]?.heard.map(({ method }) => method);
    expect(methods()).toEqual(['server/discover', 'subscriptions/listen']);
    if (asked[0] === undefined) throw new Error('no listen');
    acknowledge(asked[0]);
    await gateway.ready();
    expect(methods()).toContain('tools/list');
  });

  test('that may have gone unheard are looked for: a listen acknowledged anew reads the lists anew', async () => {
    const { script, asked } = keeping();
    const { upstream } = await openListening({ capabilities: LISTS, script });
    const lists = () => upstream.links[0]?.heard.filter(({ method }) => method === 'tools/list').length;
    expect(lists()).toBe(1);
    asked[0]?.result({ resultType: 'complete' });
    await expect.poll(lists).toBe(2);
  });
});
