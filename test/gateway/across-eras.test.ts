import { resolve } from 'node:path';
import { Client as ModernClient } from '@modelcontextprotocol/client';
import { Client as HandshakeClient } from '@modelcontextprotocol/sdk/client/index.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocketClientTransport } from '../../src/client/index.ts';
import { fileGateway } from '../support/file-gateway.ts';
import { stdioUpstream } from '../support/gateway.ts';

const everything = resolve('node_modules/@modelcontextprotocol/server-everything/dist/index.js');
const gateway = fileGateway({
  mcpServers: {
    everything: { command: process.execPath, args: [everything, 'stdio'] },
    m: stdioUpstream('modern-asking.mjs'),
  },
});

const CAPABILITIES = { elicitation: { form: {} }, sampling: {}, roots: {} };
const ROOTS = { roots: [{ uri: 'file:///x' }] };
const ENTERED = { action: 'accept' as const, content: { name: 'Ada', check: true, n: 7 } };
const SAMPLED = { model: 'm', role: 'assistant' as const, content: { type: 'text' as const, text: 'ho' } };

function transport(): WebSocketClientTransport {
  return new WebSocketClientTransport({ url: gateway().url });
}

describe('a modern client and a handshake server', () => {
  test.each(['auto', 'pinned'] as const)(
    '%s: server-everything samples and elicits, and its tools finish',
    async (name) => {
      const mode = name === 'auto' ? 'auto' : { pin: '2026-07-28' };
      const client = new ModernClient(
        { name, version: '1' },
        { capabilities: CAPABILITIES, versionNegotiation: { mode } },
      );
      onTestFinished(() => client.close());
      client.setRequestHandler('elicitation/create', () => ENTERED);
      client.setRequestHandler('sampling/createMessage', () => SAMPLED);
      client.setRequestHandler('roots/list', () => ROOTS);
      await client.connect(transport());
      expect(client.getProtocolEra()).toBe('modern');
      const names = async () => (await client.listTools()).tools.map((tool) => tool.name);
      await expect.poll(names, { timeout: 10_000 }).toContain('everything__trigger-elicitation-request');
      const sampled = await client.callTool({
        name: 'everything__trigger-sampling-request',
        arguments: { prompt: 'hi', maxTokens: 5 },
      });
      expect(JSON.stringify(sampled.content)).toContain('LLM sampling result');
      expect(JSON.stringify(sampled.content)).toContain('ho');
      const elicited = await client.callTool({ name: 'everything__trigger-elicitation-request', arguments: {} });
      expect(JSON.stringify(elicited.content)).toContain('Ada');
    },
  );
});

describe('a handshake client and a modern server', () => {
  test('SDK 1.x: tools that answer input_required finish', async () => {
    const client = new HandshakeClient({ name: 'sdk1', version: '1' }, { capabilities: CAPABILITIES });
    onTestFinished(() => client.close());
    const messages: string[] = [];
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
      messages.push(params.message);
      return ENTERED;
    });
    client.setRequestHandler(CreateMessageRequestSchema, () => SAMPLED);
    client.setRequestHandler(ListRootsRequestSchema, () => ROOTS);
    await client.connect(transport());
    const call = async (tool: string, given = {}) =>
      (await client.callTool({ name: `m__${tool}`, arguments: given })).content;
    expect(await call('steps')).toEqual([{ type: 'text', text: JSON.stringify({ step2: ENTERED }) }]);
    expect(messages).toEqual(['step 1', 'step 2']);
    expect(await call('sample', { text: 'hi' })).toEqual([{ type: 'text', text: JSON.stringify(SAMPLED) }]);
    expect(await call('pair')).toEqual([{ type: 'text', text: JSON.stringify([ENTERED, ROOTS]) }]);
  });
});
