// An `McpServer` of SDK 2.x as the default export.
import { McpServer } from '@modelcontextprotocol/server';

export default function createServer() {
  const server = new McpServer({ name: 'high', version: '2' });
  server.registerTool('who', { description: 'says who it is' }, () => ({ content: [{ type: 'text', text: 'high' }] }));
  return server;
}
