// A hand-written line server with tools only: it starts fast and does exactly what its tools say. What happens to it is
// recorded, a line each, in the file named by its first argument.
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [, , recordFile] = process.argv;
const record = (line) => recordFile && appendFileSync(recordFile, `${line}\n`);
const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const answer = (id, text) => write({ id, result: { content: [{ type: 'text', text }] } });

/** Calls without an answer yet: by key until `release`, by id until cancelled. */
const held = new Map();
const late = new Set();
const beating = new Map();

/** Progress every `every` ms, `times` times, then the answer. */
function beat(id, { every, times }, token) {
  let progress = 0;
  const timer = setInterval(() => {
    progress += 1;
    write({ method: 'notifications/progress', params: { progressToken: token, progress } });
    if (progress < times) return;
    clearInterval(timer);
    answer(id, `beat ${times}`);
  }, every);
  beating.set(id, timer);
}

const tools = {
  echo: (id, { text }) => answer(id, String(text)),
  pid: (id) => answer(id, String(process.pid)),
  environment: (id) => answer(id, JSON.stringify(process.env)),
  big: (id, { bytes }) => answer(id, 'x'.repeat(bytes)),
  wait: (id) => record(`waiting ${id}`),
  late: (id) => late.add(id),
  hold: (id, { key }) => {
    record(`holding ${key}`);
    held.set(key, id);
  },
  release: (id, { key }) => {
    answer(held.get(key), key);
    answer(id, 'released');
  },
  beat,
};

const methods = {
  initialize: (id) =>
    write({
      id,
      result: {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: 'plain', version: '1' },
      },
    }),
  'server/discover': (id) => write({ id, error: { code: -32601, message: 'Method not found' } }),
  'tools/list': (id) =>
    write({ id, result: { tools: Object.keys(tools).map((name) => ({ name, inputSchema: { type: 'object' } })) } }),
  'tools/call': (id, { name, arguments: given = {}, _meta }) => {
    record(`called ${name}`);
    tools[name](id, given, _meta?.progressToken);
  },
  'notifications/cancelled': (_id, { requestId, reason }) => {
    record(`cancelled ${requestId} ${reason}`);
    clearInterval(beating.get(requestId));
    if (late.delete(requestId)) answer(requestId, 'too late');
  },
};

record(`pid ${process.pid}`);
const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => {
  const { id, method, params = {} } = JSON.parse(line);
  methods[method]?.(id, params);
});
lines.on('close', () => process.exit(0));
