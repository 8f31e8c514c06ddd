// The same in CommonJS, whose build of the SDK has classes of its own.
const { McpServer } = require('@modelcontextprotocol/server');

module.exports = function createServer() {
  const server = new McpServer({ name: 'high', version: '2' });
  server.registerTool('who', { description: 'says who it is' }, () => ({ content: [{ type: 'text', text: 'high' }] }));
  return server;
};
