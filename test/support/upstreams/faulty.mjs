// A line server whose tools misbehave, each in the way it is called after; `echo` does not.
import { createInterface } from 'node:readline';

const say = (text) => process.stdout.write(`${text}\n`);
const write = (message) => say(JSON.stringify({ jsonrpc: '2.0', ...message }));
const answer = (id, text) => write({ id, result: { content: [{ type: 'text', text }] } });
const log = { level: 30, time: 1, msg: 'listening' };

const tools = {
  echo: (id) => answer(id, 'echo'),
  logs: (id) => {
    for (const line of [log, { ...log, id }, { ...log, method: 'tools/call' }, [log], null, 1, 'text', {}]) {
      say(JSON.stringify(line));
    }
    answer(id, 'logs');
  },
  garbage: (id) => {
    process.stdout.write(Buffer.from([0xff, 0xfe, 0x00, 0x0a, 0xc3, 0x28, 0x0a, 0x7b, 0x0a]));
    say('{"jsonrpc":"2.0","id":');
    answer(id, 'garbage');
  },
  twice: (id) => {
    for (const _ of [1, 2]) answer(id, 'twice');
  },
  others: (id) => {
    for (const other of [id + 1, String(id), null, -1]) answer(other, 'stray');
    answer(id, 'others');
  },
  both: (id) => {
    write({ id, result: {}, error: { code: 1, message: 'both' } });
    answer(id, 'too late');
  },
  die: () => process.exit(1),
  mute: () => process.stdout.end(),
  hang: () => {
    for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
  },
};

const results = {
  initialize: () => ({
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'faulty', version: '1' },
  }),
  'tools/list': () => ({ tools: Object.keys(tools).map((name) => ({ name, inputSchema: { type: 'object' } })) }),
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'tools/call') tools[params.name](id);
  else if (method in results) write({ id, result: results[method]() });
  else if (id !== undefined) write({ id, error: { code: -32601, message: 'Method not found' } });
});
