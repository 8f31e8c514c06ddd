// A real SDK server on stdio with tools that tests need. Its first argument, if any, is a file in which it records what happens to it.
import { appendFileSync } from 'node:fs';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const [, , recordFile] = process.argv;
const record = (line) => recordFile && appendFileSync(recordFile, `${line}\n`);
record(`pid ${process.pid}`);

const schema = { type: 'object' };
const names = [
  'echo',
  'wait',
  'progress',
  'environment',
  'fail',
  'error',
  'add',
  'burst',
  'pid',
  'slow',
  'hold',
  'release',
];
const server = new Server({ name: 'fixture', version: '1' }, { capabilities: { tools: { listChanged: true } } });
let added = 0;
let listed = 0;
const held = new Map();

server.setRequestHandler(ListToolsRequestSchema, () => {
  listed += 1;
  record(`listed ${listed}`);
  const more = Array.from({ length: added }, (_, at) => `added${at + 1}`);
  return { tools: [...names, ...more].map((name) => ({ name, inputSchema: schema })) };
});

const text = (value) => ({ content: [{ type: 'text', text: value }] });
const tools = {
  echo: ({ text: said }) => text(String(said)),
  pid: () => text(String(process.pid)),
  environment: () => text(JSON.stringify(process.env)),
  fail: () => ({ ...text('it failed'), isError: true }),
  error: () => {
    throw Object.assign(new Error('custom'), { code: -32063, data: { a: 1 } });
  },
  wait: (_args, extra) =>
    new Promise((resolve) => {
      record(`waiting ${extra.requestId}`);
      extra.signal.addEventListener('abort', () => {
        record(`cancelled ${extra.requestId}`);
        resolve(text('cancelled'));
      });
    }),
  slow: ({ ms }) => new Promise((resolve) => setTimeout(() => resolve(text(`slept ${ms}`)), ms)),
  hold: ({ key }) =>
    new Promise((resolve) => {
      record(`holding ${key}`);
      held.set(key, () => resolve(text(key)));
    }),
  release: ({ key }) => {
    held.get(key)?.();
    return text('released');
  },
  progress: async (_args, extra) => {
    const progressToken = extra._meta?.progressToken;
    for (const progress of [1, 2, 2, 1, 3]) {
      if (progressToken === undefined) break;
      await extra.sendNotification({ method: 'notifications/progress', params: { progressToken, progress, total: 3 } });
    }
    return text('done');
  },
  add: async () => {
    added += 1;
    await server.sendToolListChanged();
    return text(`added${added}`);
  },
  burst: async () => {
    added += 1;
    for (let at = 0; at < 200; at += 1) await server.sendToolListChanged();
    return text(`added${added}`);
  },
};

server.setRequestHandler(CallToolRequestSchema, (request, extra) => {
  const { name, arguments: given = {} } = request.params;
  const tool = tools[name] ?? (name.startsWith('added') ? () => text(name) : undefined);
  if (tool === undefined) throw Object.assign(new Error(`no tool ${name}`), { code: -32602 });
  return tool(given, extra);
});

await server.connect(new StdioServerTransport());
