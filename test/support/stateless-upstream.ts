import { onTestFinished } from 'vitest';
import { answerJson, answerStatus, type Exchange, openHttpUpstream, startEvents } from './http-upstream.ts';

type Fields = Readonly<Record<string, unknown>>;

/** One request of the gateway, and the ways to answer it. Texts are sent as they are. */
export interface StatelessAsked {
  readonly id: string | number;
  readonly method: string;
  readonly params: Fields & { readonly _meta?: Fields };
  readonly exchange: Exchange;
  /** Told before the answer, on the event stream of this request. */
  tell(message: object): void;
  result(value: object): void;
  error(value: object | string): void;
}

export type StatelessScript = Readonly<Record<string, (asked: StatelessAsked) => void>>;

export interface StatelessUpstream {
  /** Its entry of `mcpServers`. */
  readonly entry: Fields;
  /** Every request it was sent, in order. */
  readonly asked: readonly StatelessAsked[];
}

/** An MCP server of the modern era over HTTP that says exactly what its script does. Gone when the test ends. */
export async function statelessUpstream(script: StatelessScript, more: Fields = {}): Promise<StatelessUpstream> {
  const asked: StatelessAsked[] = [];
  const methods = new Map(Object.entries({ ...DEFAULTS, ...script }));
  const { url, close } = await openHttpUpstream((exchange) => {
    if (exchange.method !== 'POST') return answerStatus(exchange.response, 405);
    const { id, method, params = {} } = JSON.parse(exchange.body);
    if (id === undefined) return answerStatus(exchange.response, 202);
    const one = request(exchange, id, method, params);
    asked.push(one);
    const act = methods.get(method) ?? (({ error }) => error({ code: -32601, message: 'Method not found' }));
    act(one);
  });
  onTestFinished(close);
  return { entry: { url, ...more }, asked };
}

const complete =
  (result: object): StatelessScript[string] =>
  (asked) =>
    asked.result({ ttlMs: 0, cacheScope: 'private', ...result });

const DEFAULTS: StatelessScript = {
  'server/discover': complete({
    supportedVersions: ['2026-07-28'],
    capabilities: { tools: {}, prompts: {}, resources: {}, completions: {} },
  }),
  'tools/list': complete({ tools: [] }),
  'prompts/list': complete({ prompts: [] }),
  'resources/list': complete({ resources: [] }),
  'resources/templates/list': complete({ resourceTemplates: [] }),
  'subscriptions/listen': ({ id, tell, params }) =>
    tell({
      jsonrpc: '2.0',
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications: params.notifications, _meta: { 'io.modelcontextprotocol/subscriptionId': id } },
    }),
};

function request(exchange: Exchange, id: string | number, method: string, params: Fields): StatelessAsked {
  const { response } = exchange;
  const event = (message: string) => `event: message\ndata: ${message}\n\n`;
  const end = (text: string) => (response.headersSent ? void response.end(event(text)) : answerJson(response, text));
  const head = `{"jsonrpc":"2.0","id":${JSON.stringify(id)}`;
  return {
    id,
    method,
    params,
    exchange,
    tell(message) {
      if (!response.headersSent) startEvents(response);
      response.write(event(JSON.stringify(message)));
    },
    result: (value) => end(`${head},"result":${JSON.stringify({ resultType: 'complete', ...value })}}`),
    error: (value) => end(`${head},"error":${typeof value === 'string' ? value : JSON.stringify(value)}}`),
  };
}

/** Lists these tools by name. */
export function statelessTools(...names: readonly string[]): StatelessScript {
  return { 'tools/list': complete({ tools: names.map((name) => ({ name, inputSchema: { type: 'object' } })) }) };
}
