import { resolve } from 'node:path';
import { beforeEach, expect, it, type RunnerTestCase } from 'vitest';
import { DEFINITIONS } from '../support/upstreams/kit-catalogue.mjs';

/** A client that has opened its session, whatever SDK, transport and era it is of. */
export interface KitClient {
  /** Resolves with the result as it came, without what only the client’s era puts into it; rejects with an error that has `code` and `data` of the wire. */
  request(method: string, params?: object, onprogress?: (progress: object) => void): Promise<object>;
  /** How often the client has been told that its tools changed. */
  toolChanges(): number;
}

/** Opens a client of a gateway with these `mcpServers`; both are gone when the test has ended. */
export type WayIn = (mcpServers: Readonly<Record<string, unknown>>) => Promise<KitClient>;

/** What the kit proves, a word a test, in order. */
export const ADAPTER_STEPS = [
  'definitions',
  'structured',
  'error',
  'progress',
  'resource',
  'completion',
  'prompt',
  'change',
] as const;

/**
 * What a client is owed however it comes in. Call it inside a `describe` that names client and transport. `began` is told
 * of every test and its step.
 */
export function adapterKit(wayIn: WayIn, began: (step: string, test: RunnerTestCase) => void = () => {}): void {
  beforeEach(({ task }) => began(task.name.slice(0, task.name.indexOf(':')), task));
  const open = () =>
    wayIn({ kit: { module: resolve('test/support/upstreams/kit-catalogue.mjs'), isolation: 'shared' } });

  it('definitions: lists definitions identical to the catalogue’s own, under public names', async () => {
    const client = await open();
    expect(await client.request('tools/list')).toEqual({ tools: renamed(DEFINITIONS.tools) });
    expect(await client.request('prompts/list')).toEqual({ prompts: renamed(DEFINITIONS.prompts) });
    expect(await client.request('resources/list')).toEqual({ resources: DEFINITIONS.resources });
    const { resourceTemplates } = DEFINITIONS;
    expect(await client.request('resources/templates/list')).toEqual({ resourceTemplates });
  });

  it('structured: brings back structured content', async () => {
    const client = await open();
    const params = { name: 'kit__sum', arguments: { a: 2, b: 3 } };
    expect(await client.request('tools/call', params)).toEqual({ content: [], structuredContent: { sum: 5 } });
  });

  it('error: keeps a tool’s error a result and an upstream’s error an error', async () => {
    const client = await open();
    expect(await client.request('tools/call', { name: 'kit__fail' })).toEqual({
      content: [{ type: 'text', text: 'it failed' }],
      isError: true,
    });
    const refused = client.request('tools/call', { name: 'kit__refuse' });
    await expect(refused).rejects.toMatchObject({ code: -32063, data: { a: 1 } });
    const unknown = client.request('tools/call', { name: 'kit__unknown' });
    await expect(unknown).rejects.toMatchObject({ code: -32602 });
  });

  it('progress: brings progress in order, before the result', async () => {
    const client = await open();
    const steps: object[] = [];
    const result = await client.request('tools/call', { name: 'kit__count' }, (step) => steps.push(step));
    expect(result).toEqual({ content: [] });
    expect(steps).toEqual([
      { progress: 1, total: 3 },
      { progress: 2, total: 3 },
      { progress: 3, total: 3 },
    ]);
  });

  it('resource: reads a resource, listed or by template', async () => {
    const client = await open();
    for (const uri of ['kit://text', 'kit://item/7']) {
      expect(await client.request('resources/read', { uri })).toEqual({
        contents: [{ uri, mimeType: 'text/plain', text: 'hello' }],
      });
    }
  });

  it('completion: completes an argument', async () => {
    const client = await open();
    const ref = { type: 'ref/prompt', name: 'kit__greet' };
    expect(await client.request('completion/complete', { ref, argument: { name: 'style', value: 'f' } })).toEqual({
      completion: { values: ['formal'], total: 1, hasMore: false },
    });
  });

  it('prompt: gets a prompt', async () => {
    const client = await open();
    expect(await client.request('prompts/get', { name: 'kit__greet', arguments: { style: 'formally' } })).toEqual({
      messages: [{ role: 'user', content: { type: 'text', text: 'Greet me formally' } }],
    });
  });

  it('change: tells of a change once, and the next list has it', async () => {
    const client = await open();
    expect(client.toolChanges()).toBe(0);
    await client.request('tools/call', { name: 'kit__add' });
    await expect.poll(() => client.toolChanges()).toBe(1);
    const added = { name: 'added', inputSchema: { type: 'object' } };
    const tools = renamed([...DEFINITIONS.tools, added]).sort((a, b) => (a.name < b.name ? -1 : 1));
    expect(await client.request('tools/list')).toEqual({ tools });
    expect(client.toolChanges()).toBe(1);
  });
}

function renamed(definitions: readonly Readonly<Record<string, unknown>>[]) {
  return definitions.map((definition) => ({ ...definition, name: `kit__${String(definition.name)}` }));
}
