// A server in the gateway's own process whose tools end that process: by an error nobody catches, by two, or by leaving.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';

const fail = () => {
  throw new Error('a careless module');
};
const tools = {
  crash: () => setImmediate(fail),
  crashTwice: () => {
    setImmediate(fail);
    setImmediate(fail);
  },
  leave: () => setImmediate(() => process.exit(3)),
};

export default () => {
  const server = new McpServer({ name: 'crashing', version: '1' });
  for (const [name, end] of Object.entries(tools)) {
    server.registerTool(name, { description: name }, () => {
      end();
      return { content: [] };
    });
  }
  return server;
};
