// The MCP server both sides of the benchmark relay to: hand-written, so that its own cost is small and the same for both.
// Its arguments are the number of tools it lists, or a file of their definitions, and its era.
import { readFileSync } from 'node:fs';

const [, , listed = '10', era = 'handshake'] = process.argv;
const inputSchema = { type: 'object', properties: { data: { type: 'string' } } };
const tools = /^\d+$/.test(listed)
  ? Array.from({ length: Number(listed) }, (_, at) => ({
      name: `echo${at}`,
      description: 'Says it again',
      inputSchema,
    }))
  : JSON.parse(readFileSync(listed, 'utf8'));

const capabilities = { tools: {} };
const eras = {
  handshake: {
    initialize: () => ({ protocolVersion: '2025-11-25', capabilities, serverInfo: { name: 'bench', version: '1' } }),
    'tools/list': () => ({ tools }),
    'tools/call': ({ arguments: { data } }) => ({ content: [{ type: 'text', text: data }] }),
  },
  modern: {
    'server/discover': () => ({
      resultType: 'complete',
      supportedVersions: ['2026-07-28'],
      capabilities,
      ttlMs: 0,
      cacheScope: 'private',
    }),
    'tools/list': () => ({ resultType: 'complete', tools, ttlMs: 0, cacheScope: 'private' }),
    'tools/call': ({ arguments: { data } }) => ({ resultType: 'complete', content: [{ type: 'text', text: data }] }),
  },
};
const answers = eras[era];
const unknown = { error: { code: -32601, message: 'Method not found' } };

let waiting = '';
process.stdin.setEncoding('utf8').on('data', (chunk) => {
  const lines = (waiting + chunk).split('\n');
  waiting = lines.pop();
  for (const line of lines) {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined) continue;
    const answer = answers[method] === undefined ? unknown : { result: answers[method](params) };
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`);
  }
});
