// A real SDK 2.x server on stdio, for both eras unless its second argument is `reject`. Its first argument, if any, is a
// file in which it records what happens to it: a line for each of its starts, eras, calls, levels and cancellations.
import { appendFileSync } from 'node:fs';
import { Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const [, , recordFile, legacy = 'serve'] = process.argv;
const record = (line) => recordFile && appendFileSync(recordFile, `${line}\n`);
record('started');

const capabilities = {
  tools: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  prompts: {},
  logging: {},
};
const text = (value) => ({ content: [{ type: 'text', text: value }] });
let added = 0;

const tools = {
  echo: ({ text: said }) => text(String(said)),
  pid: () => text(String(process.pid)),
  fail: () => {
    throw Object.assign(new Error('custom'), { code: -32063, data: { a: 1 } });
  },
  slow: async (_given, { mcpReq }) => {
    const { progressToken } = mcpReq._meta ?? {};
    for (const progress of [1, 2, 3])
      await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 3 } });
    return text('done');
  },
  log: async ({ level }, { mcpReq }) => {
    await mcpReq.log(level, 'said');
    return text('logged');
  },
  wait: (_given, { mcpReq }) =>
    new Promise((resolve) => {
      record('waiting');
      mcpReq.signal.addEventListener('abort', () => {
        record('cancelled');
        resolve(text('cancelled'));
      });
    }),
  add: async (_given, _ctx, server) => {
    added += 1;
    await server.sendToolListChanged();
    return text(`added${added}`);
  },
  touch: async ({ uri }, _ctx, server) => {
    await server.sendResourceUpdated({ uri });
    return text('touched');
  },
};

function create({ era }) {
  record(`era ${era}`);
  const server = new Server({ name: 'modern', version: '2' }, { capabilities, instructions: 'Be modern.' });
  server.setRequestHandler('tools/list', () => {
    const more = Array.from({ length: added }, (_, at) => `added${at + 1}`);
    return { tools: [...Object.keys(tools), ...more].map((name) => ({ name, inputSchema: { type: 'object' } })) };
  });
  server.setRequestHandler('tools/call', ({ params }, ctx) => {
    record(`call ${params.name}`);
    return tools[params.name](params.arguments ?? {}, ctx, server);
  });
  server.setRequestHandler('resources/list', () => ({
    resources: ['note://one', 'note://two'].map((uri) => ({ uri, name: uri })),
  }));
  server.setRequestHandler('resources/read', ({ params: { uri } }) => ({ contents: [{ uri, text: `read ${uri}` }] }));
  server.setRequestHandler('resources/subscribe', () => ({}));
  server.setRequestHandler('prompts/list', () => ({ prompts: [{ name: 'greet' }] }));
  server.setRequestHandler('prompts/get', ({ params }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: params.name } }],
  }));
  return server;
}

serveStdio(create, { legacy });
