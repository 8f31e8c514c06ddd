// The one catalogue the adapter kit drives through every way in: a module upstream on a real SDK 1.x server.
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CallToolRequestSchema,
  CompleteRequestSchema,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';

const schema = { type: 'object' };

export const DEFINITIONS = {
  tools: [
    { name: 'add', description: 'Adds a tool', inputSchema: schema },
    { name: 'count', inputSchema: schema, annotations: { readOnlyHint: true }, _meta: { 'vendor/key': [1] } },
    { name: 'fail', title: 'Fails', inputSchema: schema, icons: [{ src: 'data:,', sizes: ['any'] }] },
    { name: 'refuse', inputSchema: schema, vendorField: { name: 'refuse' } },
    { name: 'sum', inputSchema: schema, outputSchema: { type: 'object', properties: { sum: { type: 'number' } } } },
  ],
  resources: [{ uri: 'kit://text', name: 'text', mimeType: 'text/plain', size: 5, vendorField: null }],
  resourceTemplates: [{ uriTemplate: 'kit://item/{id}', name: 'item' }],
  prompts: [{ name: 'greet', arguments: [{ name: 'style', required: true }], vendorField: [] }],
};

export default function createServer() {
  const capabilities = { tools: { listChanged: true }, resources: {}, prompts: {}, completions: {} };
  const server = new Server({ name: 'kit', version: '1' }, { capabilities });
  let added = false;
  const calls = {
    sum: ({ a, b }) => ({ content: [], structuredContent: { sum: a + b } }),
    fail: () => ({ content: [{ type: 'text', text: 'it failed' }], isError: true }),
    refuse: () => {
      throw Object.assign(new Error('refused'), { code: -32063, data: { a: 1 } });
    },
    count: async (_given, { _meta, sendNotification }) => {
      for (const progress of [1, 2, 3]) {
        const params = { progressToken: _meta.progressToken, progress, total: 3 };
        await sendNotification({ method: 'notifications/progress', params });
      }
      return { content: [] };
    },
    add: async () => {
      added = true;
      await server.sendToolListChanged();
      return { content: [] };
    },
  };
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: added ? [...DEFINITIONS.tools, { name: 'added', inputSchema: schema }] : DEFINITIONS.tools,
  }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }, extra) => calls[params.name](params.arguments, extra));
  server.setRequestHandler(ListResourcesRequestSchema, () => ({ resources: DEFINITIONS.resources }));
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({
    resourceTemplates: DEFINITIONS.resourceTemplates,
  }));
  server.setRequestHandler(ReadResourceRequestSchema, ({ params }) => ({
    contents: [{ uri: params.uri, mimeType: 'text/plain', text: 'hello' }],
  }));
  server.setRequestHandler(ListPromptsRequestSchema, () => ({ prompts: DEFINITIONS.prompts }));
  server.setRequestHandler(GetPromptRequestSchema, ({ params }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: `Greet me ${params.arguments.style}` } }],
  }));
  server.setRequestHandler(CompleteRequestSchema, ({ params }) => ({
    completion: { values: [`${params.argument.value}ormal`], total: 1, hasMore: false },
  }));
  return server;
}
