import { Client } from '@modelcontextprotocol/client';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocketClientTransport } from '../../src/client/index.ts';
import { fileGateway } from '../support/file-gateway.ts';
import { tapped } from '../support/frame-tap.ts';
import { stdioUpstream } from '../support/gateway.ts';

const gateway = fileGateway({ mcpServers: { fixture: stdioUpstream('fixture.mjs', [], { isolation: 'shared' }) } });

describe('an SDK 2.x client', () => {
  test.each([
    ['legacy', { mode: 'legacy' } as const, 'legacy'],
    ['auto', { mode: 'auto' } as const, 'modern'],
    ['pinned', { mode: { pin: '2026-07-28' } } as const, 'modern'],
  ])('in mode %s lists and calls, in the %s era', async (_name, versionNegotiation, era) => {
    const client = new Client({ name: 'sdk2', version: '1' }, { versionNegotiation });
    onTestFinished(() => client.close());
    await client.connect(tapped(new WebSocketClientTransport({ url: gateway().url })));
    expect(client.getProtocolEra()).toBe(era);
    const { tools } = await client.listTools();
    expect(tools.map((tool) => tool.name)).toContain('fixture__echo');
    const called = await client.callTool({ name: 'fixture__echo', arguments: { text: 'hello' } });
    expect(called.content).toEqual([{ type: 'text', text: 'hello' }]);
  });
});
