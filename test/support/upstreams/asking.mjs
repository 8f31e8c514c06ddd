// A real SDK server whose tools ask the client: its only argument is a file in which it records what happens to it.
import { appendFileSync } from 'node:fs';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import {
  CallToolRequestSchema,
  CreateMessageResultSchema,
  ElicitResultSchema,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListRootsResultSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
  RootsListChangedNotificationSchema,
  UrlElicitationRequiredError,
} from '@modelcontextprotocol/sdk/types.js';

const [, , recordFile] = process.argv;
const record = (line) => appendFileSync(recordFile, `${line}\n`);
const server = new Server(
  { name: 'asking', version: '1' },
  { capabilities: { tools: {}, prompts: {}, resources: {} } },
);

const questions = {
  elicit: ({ message }) => [
    {
      method: 'elicitation/create',
      params: { message, requestedSchema: { type: 'object', properties: { n: { type: 'integer' } } } },
    },
    ElicitResultSchema,
  ],
  visit: ({ url }) => [
    { method: 'elicitation/create', params: { mode: 'url', message: 'go', url, elicitationId: 'e1' } },
    ElicitResultSchema,
  ],
  sample: ({ text, tools }) => [
    {
      method: 'sampling/createMessage',
      params: {
        messages: [{ role: 'user', content: { type: 'text', text } }],
        maxTokens: 5,
        ...(tools ? { tools: [] } : {}),
      },
    },
    CreateMessageResultSchema,
  ],
  roots: () => [{ method: 'roots/list' }, ListRootsResultSchema],
};

server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: [...Object.keys(questions), 'complete', 'withdraw', 'many', 'declared', 'pair', 'pay', 'hang'].map((name) => ({
    name,
    inputSchema: { type: 'object' },
  })),
}));

let visits = 0;
const text = (value) => ({ content: [{ type: 'text', text: JSON.stringify(value) }] });
const attempt = (asking) => asking.then(text, ({ code, message }) => text({ code, message }));

server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
  const { name, arguments: given = {} } = params;
  if (name in questions) return attempt(extra.sendRequest(...questions[name](given)));
  if (name === 'declared') return text(server.getClientCapabilities());
  if (name === 'complete') {
    await server.notification({ method: 'notifications/elicitation/complete', params: { elicitationId: 'e1' } });
    return text('done');
  }
  if (name === 'hang') {
    record('hanging');
    return new Promise(() => {});
  }
  if (name === 'pair') {
    const [elicited, listed] = ['elicit', 'roots'].map((kind) => extra.sendRequest(...questions[kind](given)));
    return text([await elicited, await listed]);
  }
  if (name === 'pay') {
    visits += 1;
    if (visits % 2 === 0) return text('paid');
    const page = { mode: 'url', message: 'pay', url: 'https://pay.example/', elicitationId: 'e2' };
    throw new UrlElicitationRequiredError([page]);
  }
  if (name === 'withdraw') {
    const [request, schema] = questions.elicit({ message: 'never mind' });
    return attempt(extra.sendRequest(request, schema, { timeout: 200 }));
  }
  const asked = Array.from({ length: 17 }, () =>
    extra.sendRequest(...questions.roots()).then(
      () => 'answered',
      ({ code }) => code,
    ),
  );
  return text(await Promise.all(asked));
});

server.setRequestHandler(ListPromptsRequestSchema, () => ({ prompts: [{ name: 'asked' }] }));
server.setRequestHandler(GetPromptRequestSchema, async (_request, extra) => {
  const { content } = await attempt(extra.sendRequest(...questions.roots()));
  return { messages: [{ role: 'user', content: content[0] }] };
});
server.setRequestHandler(ListResourcesRequestSchema, () => ({ resources: [{ name: 'asked', uri: 'asking:r' }] }));
server.setRequestHandler(ReadResourceRequestSchema, async ({ params: { uri } }, extra) => {
  const { content } = await attempt(extra.sendRequest(...questions.roots()));
  return { contents: [{ uri, text: content[0].text }] };
});
server.setNotificationHandler(RootsListChangedNotificationSchema, () => record('roots changed'));
await server.connect(new StdioServerTransport());
