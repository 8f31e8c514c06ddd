import { setTimeout as after } from 'node:timers/promises';

type Fields = Readonly<Record<string, unknown>>;
export type PeerEra = 'handshake' | 'modern';
type Answer = { readonly result: object } | { readonly error: object };

export interface PeerKind {
  /** Stands in all it offers, so that what is somebody else's can be told apart. */
  readonly key: string;
  readonly era: PeerEra;
  /** Whether a tool of its asks the client; not where it has no connection of its own to ask on. */
  readonly asks: boolean;
}

export interface PeerEvents {
  /** A call of a tool begins, and ends; `text` is the one it was given. */
  began?(text: string): void;
  ended?(text: string): void;
}

const LONGEST_MS = 2000;
const COMPLETE = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };
const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';
const TOOLS = ['echo', 'slow', 'steps', 'ask', 'fail', 'log', 'touch', 'big', 'toggle'];
const NO_METHOD = { error: { code: -32601, message: 'Method not found' } };

/** One connection of an MCP server that does what its tools say, promptly, whatever it is given. */
export class Peer {
  private readonly kind: PeerKind;
  private readonly send: (message: object) => void;
  private readonly events: PeerEvents;
  private readonly cancelled = new Set<unknown>();
  private readonly running = new Set<unknown>();
  private readonly asked = new Map<string, (answer: Fields) => void>();
  private lastAsked = 0;
  private lastSubscribed = '';
  private isExtended = false;
  private listen: unknown;

  constructor(kind: PeerKind, send: (message: object) => void, events: PeerEvents = {}) {
    this.kind = kind;
    this.send = send;
    this.events = events;
  }

  take(message: Fields): void {
    const { id, method } = message;
    const params = fieldsOf(message.params);
    if (typeof method !== 'string') this.asked.get(textOf(id))?.(message);
    else if (id !== undefined) void this.answer(id, method, params);
    else if (method === 'notifications/cancelled') this.cancel(params.requestId);
  }

  /** The answer to one request; undefined where it is cancelled or waits for its own end. */
  async answerTo(id: unknown, method: string, params: Fields): Promise<Answer | undefined> {
    if (method === 'tools/call') return this.call(id, params);
    if (method === 'subscriptions/listen') return this.listens(id, params);
    return this.known(method, params);
  }

  private async answer(id: unknown, method: string, params: Fields): Promise<void> {
    const answer = await this.answerTo(id, method, params);
    if (answer !== undefined) this.send({ jsonrpc: '2.0', id, ...answer });
  }

  private cancel(id: unknown): void {
    if (this.running.has(id)) this.cancelled.add(id);
  }

  private known(method: string, params: Fields): Answer {
    const { key, era } = this.kind;
    const uri = `trial://${key}/one`;
    const capabilities = {
      tools: { listChanged: true },
      resources: { subscribe: true },
      prompts: {},
      completions: {},
      ...(era === 'handshake' ? { logging: {} } : {}),
    };
    if (method === 'server/discover' && era === 'modern')
      return this.result({ supportedVersions: ['2026-07-28'], capabilities });
    if (method === 'initialize' && era === 'handshake')
      return this.result({ protocolVersion: '2025-11-25', capabilities, serverInfo: { name: key, version: '1' } });
    if (method === 'tools/list') {
      const described = (name: string) => ({ name, description: `of ${key}`, inputSchema: { type: 'object' } });
      return this.result({ tools: this.tools().map(described) });
    }
    if (method === 'resources/list')
      return this.result({ resources: [{ uri, name: 'one', description: `of ${key}` }] });
    if (method === 'resources/templates/list')
      return this.result({ resourceTemplates: [{ uriTemplate: `trial://${key}/{name}`, name: 'any' }] });
    if (method === 'resources/read') return this.result({ contents: [{ uri: textOf(params.uri), text: `of ${key}` }] });
    if (method === 'prompts/list') return this.result({ prompts: [{ name: 'greet', arguments: [{ name: 'who' }] }] });
    if (method === 'prompts/get')
      return this.result({ messages: [{ role: 'user', content: { type: 'text', text: `of ${key}` } }] });
    if (method === 'completion/complete') return this.result({ completion: { values: [key] } });
    if (method === 'resources/subscribe') this.lastSubscribed = textOf(params.uri);
    const done = ['ping', 'logging/setLevel', 'resources/subscribe', 'resources/unsubscribe'];
    return era === 'handshake' && done.includes(method) ? { result: {} } : NO_METHOD;
  }

  private async call(
    id: unknown,
    { name, arguments: given, _meta, inputResponses }: Fields,
  ): Promise<Answer | undefined> {
    const text = textOf(fieldsOf(given).text);
    this.running.add(id);
    this.events.began?.(text);
    try {
      const answer = await this.run(textOf(name), fieldsOf(given), fieldsOf(_meta).progressToken, inputResponses);
      return this.cancelled.has(id) ? undefined : answer;
    } finally {
      this.running.delete(id);
      this.cancelled.delete(id);
      this.events.ended?.(text);
    }
  }

  private async run(name: string, given: Fields, token: unknown, responses: unknown): Promise<Answer> {
    const text = this.result({ content: [{ type: 'text', text: textOf(given.text) }] });
    if (name === 'slow') await after(Math.min(LONGEST_MS, numberOf(given.ms)));
    else if (name === 'steps') this.steps(token, Math.min(20, numberOf(given.steps)));
    else if (name === 'fail') return { error: { code: -32063, message: 'failed', data: given } };
    else if (name === 'log') this.notify('notifications/message', { level: 'info', data: given });
    else if (name === 'touch') this.notify('notifications/resources/updated', { uri: this.lastSubscribed });
    else if (name === 'toggle') this.toggle();
    else if (name === 'big') return this.result({ content: [{ type: 'text', text: 'x'.repeat(sizeOf(given.bytes)) }] });
    else if (name === 'ask' && this.kind.era === 'handshake' && this.kind.asks) return this.ask(given);
    else if (name === 'ask' && responses === undefined) return this.inputRequired(given);
    return text;
  }

  private tools(): string[] {
    const tools = this.isExtended ? [...TOOLS, 'extra'] : TOOLS;
    return tools.filter((name) => this.kind.asks || name !== 'ask');
  }

  private toggle(): void {
    this.isExtended = !this.isExtended;
    this.notify('notifications/tools/list_changed', {});
  }

  private steps(token: unknown, steps: number): void {
    if (token === undefined) return;
    for (let progress = 1; progress <= steps; progress += 1)
      this.notify('notifications/progress', { progressToken: token, progress });
  }

  private async ask(given: Fields): Promise<Answer> {
    this.lastAsked += 1;
    const id = `q${this.lastAsked}`;
    const answered = new Promise<Fields>((resolve) => this.asked.set(id, resolve));
    this.send({ jsonrpc: '2.0', id, method: 'elicitation/create', params: questionOf(given) });
    const { result, error } = await answered;
    this.asked.delete(id);
    return this.result({ content: [{ type: 'text', text: JSON.stringify(result ?? error) }] });
  }

  private inputRequired(given: Fields): Answer {
    const question = { method: 'elicitation/create', params: questionOf(given) };
    return { result: { resultType: 'input_required', inputRequests: { q: question }, requestState: 'state' } };
  }

  private listens(id: unknown, params: Fields): undefined {
    this.listen = id;
    this.notify('notifications/subscriptions/acknowledged', { notifications: params.notifications });
    return undefined;
  }

  /** A modern peer says it to its listen, if it has one. */
  private notify(method: string, params: object): void {
    const _meta = this.listen === undefined ? {} : { _meta: { [SUBSCRIPTION]: this.listen } };
    this.send({ jsonrpc: '2.0', method, params: { ..._meta, ...params } });
  }

  private result(value: object): Answer {
    return { result: this.kind.era === 'modern' ? { ...COMPLETE, ...value } : value };
  }
}

function questionOf(given: Fields): object {
  return { message: textOf(given.text), requestedSchema: { type: 'object', properties: { n: { type: 'integer' } } } };
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};
}

/** Never throws: `String` does for an object that has a `toString` of its own. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

function numberOf(value: unknown): number {
  return typeof value === 'number' && value > 0 ? value : 0;
}

function sizeOf(value: unknown): number {
  return Math.min(4_000_000, Math.floor(numberOf(value)));
}
