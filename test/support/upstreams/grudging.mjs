// A real SDK server that offers a tool more to clients that can be asked, and one more again when told to: `grant`, `revoke`.
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const server = new Server({ name: 'grudging', version: '1' }, { capabilities: { tools: { listChanged: true } } });
let granted = false;
server.setRequestHandler(ListToolsRequestSchema, () => {
  const names = [
    'grant',
    'revoke',
    ...(server.getClientCapabilities()?.roots ? ['rooted'] : []),
    ...(granted ? ['special'] : []),
  ];
  return { tools: names.map((name) => ({ name, inputSchema: { type: 'object' } })) };
});
server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
  granted = params.name === 'grant' ? true : params.name === 'revoke' ? false : granted;
  if (params.name !== 'special') await server.sendToolListChanged();
  return { content: [{ type: 'text', text: params.name }] };
});
await server.connect(new StdioServerTransport());
