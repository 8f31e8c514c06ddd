// As kept.mjs, of SDK 2.x: gives every connection the server it made once, which the gateway's contract forbids.
import { McpServer } from '@modelcontextprotocol/server';

const server = new McpServer({ name: 'kept', version: '1.0.0' });
server.registerTool('nothing', { description: 'Does nothing.' }, () => ({ content: [] }));

export default () => server;
