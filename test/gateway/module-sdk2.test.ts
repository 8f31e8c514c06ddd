import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { dialModule } from '../../src/upstream/module.ts';
import { moduleBehind, moduleWithCopy } from '../support/copied-sdk2.ts';
import { modernRequest } from '../support/modern-request.ts';
import { recordingLog, recordingReceiver } from '../support/stdio/recorders.ts';

const INITIALIZE =
  '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}';
const INITIALIZED = '{"jsonrpc":"2.0","method":"notifications/initialized"}';

function modulePath(name: string): string {
  return fileURLToPath(new URL(`../support/stdio/modules/${name}`, import.meta.url));
}

async function open(path: string) {
  const { log, entries } = recordingLog();
  const receiver = recordingReceiver();
  const dial = dialModule({ path }, { log, upstream: 'local' });
  const channel = await dial(receiver, new AbortController().signal, 'modern');
  onTestFinished(() => channel.close());
  const next = async () => JSON.parse(await receiver.next());
  const ask = (...request: Parameters<typeof modernRequest>) => {
    channel.send(...modernRequest(...request));
    return next();
  };
  const askPlainly = (text: string) => {
    channel.send(text);
    return next();
  };
  return { channel, receiver, ask, askPlainly, next, entries };
}

const openNamed = () => open(modulePath('named-sdk2.mjs'));
const who = '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"who","arguments":{}}}';

describe.each<[string, () => string | Promise<string>]>([
  ['a Server', () => modulePath('named-sdk2.mjs')],
  ['an McpServer', () => modulePath('mcp-sdk2.mjs')],
  ['an McpServer of the CommonJS build', () => modulePath('mcp-sdk2.cjs')],
  ['an McpServer of another copy, unlike ours inside', () => moduleWithCopy(true)],
  ['an McpServer of a copy out of reach of the module', async () => moduleBehind(await moduleWithCopy(false))],
])('%s of SDK 2.x in a module', (_name, path) => {
  it('serves the modern era', async () => {
    const { ask } = await open(await path());
    expect(await ask(1, 'server/discover')).toMatchObject({
      id: 1,
      result: { supportedVersions: ['2026-07-28'], capabilities: { tools: { listChanged: true } } },
    });
    expect(await ask(2, 'tools/call', { name: 'who', arguments: {} })).toMatchObject({
      id: 2,
      result: { resultType: 'complete', content: [{ type: 'text', text: expect.any(String) }] },
    });
  });

  it('serves the handshake era', async () => {
    const { channel, askPlainly } = await open(await path());
    expect(await askPlainly(INITIALIZE)).toMatchObject({ id: 1, result: { protocolVersion: '2025-11-25' } });
    channel.send(INITIALIZED);
    const answer = await askPlainly(who);
    expect(answer).toMatchObject({ id: 2, result: { content: [{ type: 'text' }] } });
    expect(answer.result).not.toHaveProperty('resultType');
  });
});

describe('a module upstream of SDK 2.x', () => {
  it('answers through the channel, progress first, fields the SDK does not know included', async () => {
    const { ask, next } = await openNamed();
    const params = { name: 'steps', arguments: { deep: { a: 1 } } };
    expect(await ask(1, 'tools/call', params, { progressToken: 'p' })).toMatchObject({
      method: 'notifications/progress',
      params: { progressToken: 'p', progress: 1 },
    });
    expect(await next()).toMatchObject({ id: 1, result: { vendor: { deep: { a: 1 } } } });
  });

  it('is a server of its own for each dial', async () => {
    const [one, two] = [await openNamed(), await openNamed()];
    const ask = (opened: typeof one) => opened.ask(1, 'tools/call', { name: 'who' });
    const [first, second] = [await ask(one), await ask(two)];
    expect(first.result.content).not.toEqual(second.result.content);
    await one.channel.close();
    expect((await ask(two)).result.content).toEqual(second.result.content);
  });

  it('answers initialize after server/discover with another server', async () => {
    const { ask, askPlainly, entries } = await openNamed();
    await ask(1, 'server/discover');
    expect(await askPlainly(INITIALIZE)).toMatchObject({ result: { protocolVersion: '2025-11-25' } });
    expect(entries).toMatchObject([{ event: 'module_threw', fields: { upstream: 'local' } }]);
  });

  it('tells subscribers of changes', async () => {
    const { channel, ask, next } = await openNamed();
    const notifications = { toolsListChanged: true };
    expect(await ask(5, 'subscriptions/listen', { notifications })).toMatchObject({
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications },
    });
    channel.send(...modernRequest(6, 'tools/call', { name: 'change' }));
    expect(await next()).toMatchObject({
      method: 'notifications/tools/list_changed',
      params: { _meta: { 'io.modelcontextprotocol/subscriptionId': 5 } },
    });
    expect(await next()).toMatchObject({ id: 6 });
  });

  it.each([
    [
      'once it is connected',
      async ({ ask }: Awaited<ReturnType<typeof open>>) => void (await ask(1, 'server/discover')),
    ],
    ['before the first request', async () => {}],
  ])('is told when the gateway closes %s; what it throws then goes to the log', async (_when, use) => {
    const opened = await openNamed();
    await use(opened);
    await opened.channel.close();
    expect(opened.receiver.closings).toEqual([{ cause: undefined }]);
    await expect
      .poll(() => opened.entries)
      .toEqual([
        {
          event: 'module_threw',
          fields: {
            upstream: 'local',
            err: expect.objectContaining({ message: expect.stringMatching(/^a careless server \d+$/) }),
          },
        },
      ]);
  });

  it('is closed by its own method, where it has one', async () => {
    const { channel, ask, entries } = await open(modulePath('closing-sdk2.mjs'));
    await ask(1, 'server/discover');
    await channel.close();
    const err = new Error('its own close was called');
    await expect.poll(() => entries).toEqual([{ event: 'module_threw', fields: { upstream: 'local', err } }]);
  });

  it('ends the channel with a cause when it closes itself', async () => {
    const { channel, receiver, ask } = await openNamed();
    await ask(1, 'tools/call', { name: 'leave' }).catch(() => undefined);
    expect((await receiver.whenClosed).cause?.message).toBe('the other end closed');
    expect(channel.send('{}')).toBe(false);
  });
});
