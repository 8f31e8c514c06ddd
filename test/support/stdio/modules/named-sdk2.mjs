// A low-level server of SDK 2.x under the name `createServer`, made anew for each connection: its tool says which one it is.
import { Server } from '@modelcontextprotocol/server';

let made = 0;

export async function createServer() {
  made += 1;
  const number = made;
  const capabilities = { tools: { listChanged: true } };
  const server = new Server({ name: 'named', version: '2' }, { capabilities });
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    if (params.name === 'leave') server.close().catch(() => {});
    if (params.name === 'change') await server.sendToolListChanged();
    const progressToken = mcpReq._meta?.progressToken;
    if (params.name === 'steps')
      await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress: 1 } });
    return { content: [{ type: 'text', text: String(number) }], vendor: params.arguments };
  });
  server.onclose = () => {
    throw new Error(`a careless server ${number}`);
  };
  return server;
}
