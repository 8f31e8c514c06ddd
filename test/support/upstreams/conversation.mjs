// What the scripted session talks to: a module upstream on a real SDK 1.x server, of which every link is one. All links
// share one world: a tool that comes and goes, and a record of what has happened.
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CallToolRequestSchema,
  ElicitResultSchema,
  ListResourcesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';

const PAGE = 'talk://page';
const servers = new Map();
let record = [];
let extra = false;

const text = (value) => ({ content: [{ type: 'text', text: value }] });
const inputSchema = { type: 'object' };
const requestedSchema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };

const tools = {
  count: async (_given, { _meta, sendNotification }) => {
    for (const progress of [1, 2]) {
      const params = { progressToken: _meta.progressToken, progress, total: 2, message: `step ${progress}` };
      await sendNotification({ method: 'notifications/progress', params });
    }
    return { content: [], structuredContent: { counted: 2 } };
  },
  ask: async (_given, { sendRequest }) => {
    const params = { mode: 'form', message: 'How many?', requestedSchema };
    const { action, content } = await sendRequest({ method: 'elicitation/create', params }, ElicitResultSchema);
    return text(`${action} ${content?.n}`);
  },
  touch: async () => {
    const holders = [...servers].filter(([, subscribed]) => subscribed.has(PAGE));
    for (const [server] of holders) await server.sendResourceUpdated({ uri: PAGE });
    return text(`told ${holders.length}`);
  },
  toggle: async () => {
    extra = !extra;
    for (const [server] of servers) await server.sendToolListChanged();
    return text(extra ? 'there' : 'gone');
  },
  wait: (_given, { signal }) =>
    new Promise((resolve) => {
      record.push('waiting');
      signal.addEventListener('abort', () => {
        record.push('cancelled');
        resolve(text('too late'));
      });
    }),
  // What has been recorded so far.
  recorded: () => text(record.join(' ')),
  forget: () => {
    record = [];
    return text('forgotten');
  },
};

export default function createServer() {
  const capabilities = { tools: { listChanged: true }, resources: { subscribe: true } };
  const server = new Server({ name: 'conversation', version: '1' }, { capabilities });
  const subscribed = new Set();
  servers.set(server, subscribed);
  server.onclose = () => servers.delete(server);
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: [...Object.keys(tools), ...(extra ? ['visitor'] : [])].map((name) => ({ name, inputSchema })),
  }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }, context) =>
    tools[params.name](params.arguments, context),
  );
  server.setRequestHandler(ListResourcesRequestSchema, () => ({ resources: [{ uri: PAGE, name: 'page' }] }));
  server.setRequestHandler(ReadResourceRequestSchema, ({ params: { uri } }) => ({
    contents: [{ uri, text: 'hello' }],
  }));
  server.setRequestHandler(SubscribeRequestSchema, ({ params }) => {
    subscribed.add(params.uri);
    return {};
  });
  server.setRequestHandler(UnsubscribeRequestSchema, ({ params }) => {
    subscribed.delete(params.uri);
    return {};
  });
  return server;
}
