import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';
import { registerCounting } from './counting.ts';
import { registerGreeting } from './greeting.ts';
import { registerToggle } from './toggle.ts';

/** The server behind the gateway's embedded default: one of each thing a client may want to try. The same input gives the same output. */
export default function createServer(): McpServer {
  const server = new McpServer(
    { name: 'demo', title: 'Demo server', version: '1.0.0' },
    { instructions: 'Call echo to hear yourself, count to watch progress, toggle to see the tool list change.' },
  );
  registerEcho(server);
  registerCounting(server);
  registerGreeting(server);
  registerToggle(server);
  return server;
}

function registerEcho(server: McpServer): void {
  server.registerTool(
    'echo',
    {
      title: 'Echo',
      description: 'Returns the text it is given.',
      inputSchema: { text: z.string().describe('What to return') },
      annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
    },
    ({ text }) => ({ content: [{ type: 'text', text }] }),
  );
}
