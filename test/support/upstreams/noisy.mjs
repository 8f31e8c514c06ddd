// A server that prints a banner, and right before each answer text, JSON that is no JSON-RPC, and JSON-RPC that is broken
// and no answer, under the id that waits for one.
import { createInterface } from 'node:readline';

const noise = (id) => [
  'Server started on stdio',
  '{"level":"info"}',
  '[1,2]',
  '"text"',
  `{"jsonrpc":"1.0","id":${id},"result":{}}`,
  `{"jsonrpc":"2.0","id":${id}}`,
  `{"jsonrpc":"2.0","id":${id},"method":"x","params":[]}`,
];
const say = (text) => process.stdout.write(`${text}\n`);
const results = {
  initialize: () => ({
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'noisy', version: '1' },
  }),
  'tools/list': () => ({ tools: [{ name: 'echo', inputSchema: { type: 'object' } }] }),
  'tools/call': (params) => ({ content: [{ type: 'text', text: params.arguments.text }] }),
};

noise(1).forEach(say);
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  noise(id ?? 1).forEach(say);
  if (id === undefined) return;
  const answer =
    method in results ? { result: results[method](params) } : { error: { code: -32601, message: 'Method not found' } };
  say(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
});
