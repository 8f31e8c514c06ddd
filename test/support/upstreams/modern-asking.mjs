// A real SDK 2.x server on stdio, of the modern era alone, whose tools need more of the client before they answer.
import { inputRequired, ProtocolError, Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const text = (value) => ({ content: [{ type: 'text', text: JSON.stringify(value) }] });

const questions = {
  elicit: ({ message = 'm' }) =>
    inputRequired.elicit({ message, requestedSchema: { type: 'object', properties: { n: { type: 'integer' } } } }),
  visit: ({ url }) => inputRequired.elicitUrl({ message: 'go', url }),
  sample: ({ text: said }) =>
    inputRequired.createMessage({
      messages: [{ role: 'user', content: { type: 'text', text: said } }],
      maxTokens: 5,
    }),
  roots: () => inputRequired.listRoots(),
};

/** A tool for each question, and some that ask in their own way. */
const tools = {
  ...Object.fromEntries(Object.keys(questions).map((name) => [name, (given, mcpReq) => once(name, given, mcpReq)])),
  pair: (given, { inputResponses }) =>
    inputResponses === undefined
      ? inputRequired({ inputRequests: { e: questions.elicit(given), r: questions.roots() } })
      : text([inputResponses.e, inputResponses.r]),
  steps: (_given, { inputResponses, requestState }) => {
    const step = Number(requestState() ?? 0);
    if (step === 2) return text(inputResponses);
    const ask = { [`step${step + 1}`]: questions.elicit({ message: `step ${step + 1}` }) };
    return inputRequired({ inputRequests: ask, requestState: String(step + 1) });
  },
  later: (_given, { requestState }) =>
    requestState() === undefined ? inputRequired({ requestState: 'soon' }) : text('at last'),
  bulky: ({ length }) => inputRequired({ inputRequests: { r: questions.roots() }, requestState: 's'.repeat(length) }),
  crowd: ({ length }) => {
    const asks = Array.from({ length }, (_, at) => [`r${at}`, questions.roots()]);
    return inputRequired({ inputRequests: Object.fromEntries(asks) });
  },
  endless: () => inputRequired({ inputRequests: { r: questions.roots() } }),
  declared: (_given, { envelope }) => text(envelope['io.modelcontextprotocol/clientCapabilities']),
  odd: () => ({ content: [], structuredContent: [1, 2] }),
};

function once(name, given, { inputResponses }) {
  const answer = inputResponses?.q;
  return answer === undefined ? inputRequired({ inputRequests: { q: questions[name](given) } }) : text(answer);
}

serveStdio(
  () => {
    const capabilities = { tools: {}, prompts: {}, resources: {} };
    const server = new Server({ name: 'modern-asking', version: '2' }, { capabilities });
    server.setRequestHandler('prompts/list', () => ({ prompts: [{ name: 'asked' }] }));
    server.setRequestHandler('prompts/get', (_request, { mcpReq }) => {
      const answer = once('roots', {}, mcpReq);
      return answer.content === undefined ? answer : { messages: [{ role: 'user', content: answer.content[0] }] };
    });
    server.setRequestHandler('resources/list', () => ({ resources: [{ name: 'asked', uri: 'asked:r' }] }));
    server.setRequestHandler('resources/read', ({ params: { uri } }, { mcpReq }) => {
      if (uri !== 'asked:r') throw new ProtocolError(-32602, 'Resource not found', { uri });
      const answer = once('roots', {}, mcpReq);
      return answer.content === undefined ? answer : { contents: [{ uri, text: answer.content[0].text }] };
    });
    server.setRequestHandler('tools/list', () => ({
      tools: Object.keys(tools).map((name) => ({
        name,
        inputSchema: { type: 'object' },
        ...(name === 'odd' ? { outputSchema: { type: 'array', items: { type: 'integer' } } } : {}),
      })),
    }));
    server.setRequestHandler('tools/call', ({ params: { name, arguments: given = {} } }, { mcpReq }) =>
      tools[name](given, mcpReq),
    );
    return server;
  },
  { legacy: 'reject' },
);
