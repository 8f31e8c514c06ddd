import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { dialModule } from '../../src/upstream/module.ts';
import { recordingLog, recordingReceiver } from '../support/stdio/recorders.ts';

const never = new AbortController().signal;

function modulePath(name: string): string {
  return fileURLToPath(new URL(`../support/stdio/modules/${name}.mjs`, import.meta.url));
}

async function open(name: string) {
  const { log, entries } = recordingLog();
  const receiver = recordingReceiver();
  const channel = await dialModule({ path: modulePath(name) }, { log, upstream: 'local' })(receiver, never);
  onTestFinished(() => channel.close());
  let id = 0;
  const call = async (tool: string, args: object = {}) => {
    id += 1;
    const params = { name: tool, arguments: args };
    channel.send(JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params }), id);
    return JSON.parse(await receiver.next());
  };
  return { channel, receiver, call, entries };
}

describe('a module upstream', () => {
  it('answers through the channel, fields the SDK does not know included', async () => {
    const { call } = await open('named');
    expect(await call('who', { deep: { a: 1 } })).toMatchObject({ id: 1, result: { vendor: { deep: { a: 1 } } } });
  });

  it('is a server of its own for each dial', async () => {
    const [one, two] = [await open('named'), await open('named')];
    const [first, second] = [await one.call('who'), await two.call('who')];
    expect(first.result.content).not.toEqual(second.result.content);
    await one.channel.close();
    expect((await two.call('who')).result.content).toEqual(second.result.content);
  });

  it('is told when the gateway closes; what it throws then goes to the log', async () => {
    const { channel, receiver, call, entries } = await open('named');
    await call('who');
    await channel.close();
    expect(receiver.closings).toEqual([{ cause: undefined }]);
    expect(entries).toEqual([
      { event: 'module_threw', fields: { upstream: 'local', err: new Error('a careless server') } },
    ]);
  });

  it('ends the channel with a cause when it closes itself', async () => {
    const { channel, receiver, call } = await open('named');
    await call('leave').catch(() => undefined);
    expect((await receiver.whenClosed).cause?.message).toBe('the other end closed');
    expect(channel.send('{}')).toBe(false);
  });

  it.each([
    ['missing', /missing\.mjs cannot be loaded$/],
    ['no-function', /no-function\.mjs exports no function, neither as default nor as createServer$/],
    ['no-server', /the function exported by .*no-server\.mjs returned no MCP server$/],
    ['failing', /the function exported by .*failing\.mjs failed$/],
  ])('that is %s is refused with a sentence', async (name, message) => {
    const { log } = recordingLog();
    const dial = dialModule({ path: modulePath(name) }, { log, upstream: 'local' });
    await expect(dial(recordingReceiver(), never)).rejects.toThrow(message);
  });
});
