// A real SDK server on stdio with one tool that policy allows and one that it forbids. Each that runs is recorded as
// {"ran": name} in the file named by its first argument, each line it is sent as {"line": ...}.
import { appendFileSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const [, , recordFile] = process.argv;
const record = (entry) => appendFileSync(recordFile, `${JSON.stringify(entry)}\n`);

const server = new Server({ name: 'recording', version: '1' }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: ['allowed', 'forbidden'].map((name) => ({ name, inputSchema: { type: 'object' } })),
}));
server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
  record({ ran: params.name });
  return { content: [] };
});

let rest = '';
const input = new PassThrough();
process.stdin.on('data', (chunk) => {
  const lines = (rest + chunk).split('\n');
  rest = lines.pop();
  for (const line of lines) record({ line });
  input.write(chunk);
});
process.stdin.on('end', () => process.exit(0));
await server.connect(new StdioServerTransport(input, process.stdout));
