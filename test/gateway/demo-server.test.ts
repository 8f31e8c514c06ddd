import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import {
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import createServer from '../../src/demo/server.ts';

async function connect() {
  const client = new Client({ name: 'newcomer', version: '1' });
  const notified: string[] = [];
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void notified.push(params.uri));
  client.setNotificationHandler(ToolListChangedNotificationSchema, ({ method }) => void notified.push(method));
  const [near, far] = InMemoryTransport.createLinkedPair();
  await createServer().connect(far);
  await client.connect(near);
  onTestFinished(() => client.close());
  return { client, notified };
}

const text = (value: string) => [{ type: 'text', text: value }];

describe('the demo server', () => {
  it('echoes', async () => {
    const { client } = await connect();
    const result = await client.callTool({ name: 'echo', arguments: { text: 'hello' } });
    expect(result).toEqual({ content: text('hello') });
  });

  it('counts with progress and structured output', async () => {
    const { client } = await connect();
    await client.listTools();
    const steps: unknown[] = [];
    const call = { name: 'count', arguments: { to: 3 } };
    const result = await client.callTool(call, undefined, { onprogress: (step) => steps.push(step) });
    expect(result).toEqual({ content: text('Counted to 3.'), structuredContent: { total: 3 } });
    expect(steps).toEqual([
      { progress: 1, total: 3 },
      { progress: 2, total: 3 },
      { progress: 3, total: 3 },
    ]);
  });

  it('updates its resource for subscribers only', async () => {
    const { client, notified } = await connect();
    const count = (to: number) => client.callTool({ name: 'count', arguments: { to } });
    const read = async () => (await client.readResource({ uri: 'demo://counter' })).contents;
    await count(2);
    await client.subscribeResource({ uri: 'demo://counter' });
    await count(5);
    await client.unsubscribeResource({ uri: 'demo://counter' });
    await count(4);
    expect(notified).toEqual(['demo://counter']);
    expect(await read()).toEqual([{ uri: 'demo://counter', mimeType: 'text/plain', text: '4' }]);
  });

  it('completes a prompt argument and fills the prompt', async () => {
    const { client } = await connect();
    const completed = await client.complete({
      ref: { type: 'ref/prompt', name: 'greet' },
      argument: { name: 'style', value: 'f' },
    });
    expect(completed.completion.values).toEqual(['formal']);
    const prompt = await client.getPrompt({ name: 'greet', arguments: { name: 'Ada', style: 'formal' } });
    expect(prompt.messages).toEqual([
      { role: 'user', content: { type: 'text', text: 'Write a formal greeting for Ada.' } },
    ]);
  });

  it('adds and removes a tool, saying so each time', async () => {
    const { client, notified } = await connect();
    const names = async () => (await client.listTools()).tools.map(({ name }) => name);
    expect(await names()).toEqual(['echo', 'count', 'toggle']);
    expect((await client.callTool({ name: 'toggle' })).content).toEqual(text('Added extra.'));
    expect(await names()).toEqual(['echo', 'count', 'toggle', 'extra']);
    expect((await client.callTool({ name: 'extra' })).content).toEqual(text('Here I am.'));
    expect((await client.callTool({ name: 'toggle' })).content).toEqual(text('Removed extra.'));
    expect(await names()).toEqual(['echo', 'count', 'toggle']);
    expect(notified).toEqual(['notifications/tools/list_changed', 'notifications/tools/list_changed']);
  });
});
