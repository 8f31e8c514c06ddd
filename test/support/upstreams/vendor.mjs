// A hand-written line server with methods of its own vendor. What happens to it is recorded, a line each, in the file
// named by its first argument.
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [, , recordFile] = process.argv;
const record = (line) => appendFileSync(recordFile, `${line}\n`);
const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const progress = (progressToken, value) =>
  write({ method: 'notifications/progress', params: { progressToken, progress: value } });

/** Methods of MCP's own are not recorded. */
const OWN = /^(initialize$|notifications\/|server\/|tools\/)/;

/** Says each of these, then answers. */
const say = (id, { texts }) => {
  for (const text of texts) process.stdout.write(`${text}\n`);
  write({ id, result: { content: [] } });
};

/** The message without the id of its link. */
const unnumbered = (line) => line.replace(/"id":\d+/, '"id":0');

const methods = {
  initialize: (id) =>
    write({
      id,
      result: {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: 'vendor', version: '1' },
      },
    }),
  'tools/list': (id) => write({ id, result: { tools: [{ name: 'say', inputSchema: { type: 'object' } }] } }),
  'tools/call': (id, { arguments: given }) => say(id, given),
  'acme/look': (id, _params, line) => {
    process.stdout.write(
      `{"jsonrpc":"2.0","id":${id},"result":{"heard":${unnumbered(line)}, "big":12345678901234567890}}\n`,
    );
  },
  'acme/fail': (id) => write({ id, error: { code: -32050, message: 'acme is closed', data: { until: 'noon' } } }),
  'acme/work': (id, { _meta }) => {
    progress(_meta.progressToken, 1);
    progress(_meta.progressToken, 2);
    write({ id, result: {} });
  },
  'acme/wait': (id) => record(`waiting ${id}`),
  'notifications/cancelled': (_id, { requestId }) => record(`cancelled ${requestId}`),
  'acme/say': say,
  'open/say': say,
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params = {} } = JSON.parse(line);
  if (!OWN.test(method)) record(unnumbered(line));
  if (methods[method] !== undefined) methods[method](id, params, line);
  else if (id !== undefined) write({ id, error: { code: -32601, message: 'Method not found' } });
});
