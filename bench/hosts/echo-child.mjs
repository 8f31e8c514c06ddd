// The MCP server both sides of the benchmark relay to: hand-written, so that its own cost is small and the same for both.
// Its argument is the number of tools it lists.
const count = Number(process.argv[2] ?? 10);
const schema = { type: 'object', properties: { data: { type: 'string' } } };
const tools = Array.from({ length: count }, (_, at) => ({
  name: `echo${at}`,
  description: 'Says it again',
  inputSchema: schema,
}));

const answers = {
  initialize: () => ({
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'bench', version: '1' },
  }),
  'tools/list': () => ({ tools }),
  'tools/call': ({ arguments: { data } }) => ({ content: [{ type: 'text', text: data }] }),
};

let waiting = '';
process.stdin.setEncoding('utf8').on('data', (chunk) => {
  const lines = (waiting + chunk).split('\n');
  waiting = lines.pop();
  for (const line of lines) {
    const { id, method, params } = JSON.parse(line);
    const result = answers[method]?.(params);
    if (id !== undefined) process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`);
  }
});
