// An MCP server with one resource, which is said to have been updated whenever its tool is called.
const URI = 'bench://news';
const answers = {
  initialize: () => ({
    protocolVersion: '2025-11-25',
    capabilities: { tools: {}, resources: { subscribe: true } },
    serverInfo: { name: 'bench', version: '1' },
  }),
  'tools/list': () => ({ tools: [{ name: 'touch', inputSchema: { type: 'object' } }] }),
  'tools/call': () => ({ content: [] }),
  'resources/list': () => ({ resources: [{ uri: URI, name: 'news' }] }),
  'resources/templates/list': () => ({ resourceTemplates: [] }),
  'resources/subscribe': () => ({}),
  'resources/unsubscribe': () => ({}),
};
const unknown = { error: { code: -32601, message: 'Method not found' } };
const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

let waiting = '';
process.stdin.setEncoding('utf8').on('data', (chunk) => {
  const lines = (waiting + chunk).split('\n');
  waiting = lines.pop();
  for (const line of lines) {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined) continue;
    write({ id, ...(answers[method] === undefined ? unknown : { result: answers[method](params) }) });
    if (method === 'tools/call') write({ method: 'notifications/resources/updated', params: { uri: URI } });
  }
});
