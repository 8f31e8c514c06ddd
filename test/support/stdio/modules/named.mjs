// A low-level SDK server under the name `createServer`, made anew for each dial: its tool says which one it is.
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { CallToolRequestSchema } from '@modelcontextprotocol/sdk/types.js';

let made = 0;

export async function createServer() {
  made += 1;
  const number = made;
  const server = new Server({ name: 'named', version: '1' }, { capabilities: { tools: {} } });
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
    if (params.name === 'leave') void server.close();
    return { content: [{ type: 'text', text: String(number) }], vendor: params.arguments };
  });
  server.onclose = () => {
    throw new Error('a careless server');
  };
  return server;
}
