// A real SDK 1.x server with one of everything, the same on stdio (library.mjs) and over HTTP (test/support/library.ts).
// What happens to it is told to `record`, a line each.
import { setTimeout as delay } from 'node:timers/promises';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CallToolRequestSchema,
  CompleteRequestSchema,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
  SetLevelRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';

const CAPABILITIES = {
  tools: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  prompts: { listChanged: true },
  completions: {},
  logging: {},
};

const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];

const failure = (code, message, data) => Object.assign(new Error(message), { code, data });
const text = (value) => ({ content: [{ type: 'text', text: value }] });
const schema = { type: 'object' };

/** What all sessions of one server process share. `tag` says in every answer who gave it. */
export function makeWorld(options = {}) {
  const {
    tag = 'library',
    logLevel = 'debug',
    resources = ['lib://books/1', 'lib://books/2'],
    templates = ['lib://shelf/{name}'],
  } = options;
  return { tag, logLevel, resources, templates, added: 0, servers: new Set() };
}

export function createLibrary(world, record) {
  const server = new Server({ name: world.tag, version: '1' }, { capabilities: CAPABILITIES });
  const subscribed = new Set();
  world.servers.add(server);
  server.onclose = () => world.servers.delete(server);
  handleTools(server, world, record);
  handleResources(server, world, record);
  handlePrompts(server, world, record);
  server.setRequestHandler(SubscribeRequestSchema, ({ params }) => {
    record(`subscribe ${params.uri}`);
    if (params.uri.endsWith('/closed')) throw failure(-32051, 'closed shelf', { uri: params.uri });
    subscribed.add(params.uri);
    return {};
  });
  server.setRequestHandler(UnsubscribeRequestSchema, ({ params }) => {
    record(`unsubscribe ${params.uri}`);
    subscribed.delete(params.uri);
    return {};
  });
  server.isSubscribed = (uri) => subscribed.has(uri);
  return server;
}

function handleTools(server, world, record) {
  let { logLevel } = world;
  const tools = {
    echo: (given) => text(String(given.text)),
    pid: () => text(String(process.pid)),
    wait: (_given, extra) =>
      new Promise((resolve) => {
        record(`waiting ${extra.requestId}`);
        extra.signal.addEventListener('abort', () => {
          record(`cancelled ${extra.requestId}`);
          resolve(text('cancelled'));
        });
      }),
    add: async () => {
      world.added += 1;
      for (const each of world.servers) await each.sendToolListChanged();
      return text('added');
    },
    // 200 notifications over some 40 ms.
    burst: async () => {
      world.added += 1;
      for (let at = 0; at < 200; at += 1) {
        for (const each of world.servers) await each.sendToolListChanged();
        if (at % 20 === 19) await delay(4);
      }
      return text('burst');
    },
    touch: async ({ uri }) => {
      const holders = [...world.servers].filter((each) => each.isSubscribed(uri));
      for (const each of holders) await each.sendResourceUpdated({ uri });
      return text(`touched ${holders.length}`);
    },
    log: async ({ level, data }, { sendNotification }) => {
      const params = { level, data, logger: world.tag };
      const isLoud = LEVELS.indexOf(level) >= LEVELS.indexOf(logLevel);
      if (isLoud) await sendNotification({ method: 'notifications/message', params });
      return text('logged');
    },
  };
  server.setRequestHandler(SetLevelRequestSchema, ({ params }) => {
    record(`level ${params.level}`);
    logLevel = params.level;
    return {};
  });
  server.setRequestHandler(ListToolsRequestSchema, () => {
    record('listed tools');
    const added = Array.from({ length: world.added }, (_, at) => `added${at + 1}`);
    return { tools: [...Object.keys(tools), ...added].map((name) => ({ name, inputSchema: schema })) };
  });
  server.setRequestHandler(CallToolRequestSchema, ({ params }, extra) => {
    record(`call ${params.name}`);
    const tool = tools[params.name];
    return tool === undefined ? text(params.name) : tool(params.arguments ?? {}, extra);
  });
}

function handleResources(server, world, record) {
  server.setRequestHandler(ListResourcesRequestSchema, () => ({
    resources: world.resources.map((uri) => ({ uri, name: `${world.tag} ${uri}` })),
  }));
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({
    resourceTemplates: world.templates.map((uriTemplate) => ({ uriTemplate, name: `${world.tag} ${uriTemplate}` })),
  }));
  server.setRequestHandler(ReadResourceRequestSchema, ({ params: { uri } }) => {
    record(`read ${uri}`);
    if (uri.endsWith('/burnt')) throw failure(-32050, 'burnt', { uri, since: 1666 });
    if (uri.endsWith('/missing')) throw failure(-32002, 'no such book', { uri });
    return { contents: [{ uri, text: `${world.tag}:${uri}` }] };
  });
}

function handlePrompts(server, world, record) {
  server.setRequestHandler(ListPromptsRequestSchema, () => ({
    prompts: [{ name: 'review', arguments: [{ name: 'title', required: true }] }, { name: 'broken' }],
  }));
  server.setRequestHandler(GetPromptRequestSchema, ({ params }) => {
    record(`get ${params.name}`);
    if (params.name === 'broken') throw failure(-32052, 'no ink', { pages: 0 });
    const said = `${world.tag}: review ${params.arguments?.title}`;
    return { description: 'A review', messages: [{ role: 'user', content: { type: 'text', text: said } }] };
  });
  server.setRequestHandler(CompleteRequestSchema, ({ params }) => {
    record(`complete ${JSON.stringify(params.ref)} ${params.argument.name}`);
    if (params.argument.value === 'fail') throw failure(-32053, 'no idea');
    return { completion: { values: [`${world.tag}:${params.argument.value}1`], total: 1, hasMore: false } };
  });
}
