import { Random } from '../trial/random.ts';

export type Fields = Record<string, unknown>;
export type ClientEra = 'handshake' | 'modern';

/** Upstreams a mutant may name. `hidden` is denied to everybody. */
export const KEYS = ['pipe', 'socket', 'modern', 'web', 'hidden'] as const;
export const REVISIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'] as const;
const MODERN = '2026-07-28';

const PREFIX = 'io.modelcontextprotocol';
const CAPABILITIES = { elicitation: {}, sampling: {}, roots: { listChanged: true } };
const clientInfo = { name: 'fuzz', version: '1' };

/** Valid messages of one client, each request under an id of its own. */
export class Messages {
  private random = new Random('');
  private readonly era: ClientEra;
  private readonly ids: (string | number)[] = [];
  /** Params of calls by the id they were made under, and of those that are to be made again with answers. */
  private readonly calls = new Map<string | number, Fields>();
  private readonly waiting: Fields[] = [];
  private last = 0;

  constructor(era: ClientEra) {
    this.era = era;
  }

  initialize(protocolVersion: string, random: Random): Fields {
    this.random = random;
    return this.plain('initialize', { protocolVersion, capabilities: CAPABILITIES, clientInfo });
  }

  /** What settles the modern era. */
  opening(random: Random): Fields {
    this.random = random;
    return this.enveloped('tools/list', {});
  }

  /** Any message a client of this era may send; `questions` are ids it may answer. */
  next(random: Random, questions: readonly string[]): Fields {
    this.random = random;
    const question = random.oneOf(questions);
    if (question !== undefined && random.chance(0.3)) return this.response(question);
    if (random.chance(0.1)) return this.notification();
    return this.era === 'handshake' && random.chance(0.25) ? this.handshakeOnly() : this.request();
  }

  /** An answer that asks something: its call can be made again. */
  asked(id: string | number, { inputRequests, requestState }: Fields): void {
    const call = this.calls.get(id);
    if (call === undefined) return;
    const keys = typeof inputRequests === 'object' && inputRequests !== null ? Object.keys(inputRequests) : [];
    const answer = { action: 'accept', content: { n: this.random.int(9) } };
    const inputResponses = Object.fromEntries(keys.map((key) => [key, answer]));
    this.waiting.push({ ...call, inputResponses, requestState });
    if (this.waiting.length > 4) this.waiting.shift();
  }

  /** What ends a question, whatever became of the mutated answers to it. */
  refusal(id: string): Fields {
    return { jsonrpc: '2.0', id, error: { code: -1, message: 'no more' } };
  }

  private request(): Fields {
    const { random } = this;
    const again = random.chance(0.3) ? this.waiting.pop() : undefined;
    if (again !== undefined) return this.plain('tools/call', again);
    const key = random.pick(...KEYS);
    const uri = `trial://${key}/${random.pick('one', 'two', 'a%2fb', '../one')}`;
    switch (random.int(10)) {
      case 0:
        return this.enveloped('tools/list', random.chance(0.3) ? { cursor: 'bm90IGE' } : {});
      case 1:
        return this.enveloped(random.pick('resources/list', 'prompts/list', 'resources/templates/list'), {});
      case 2:
        return this.enveloped('resources/read', { uri });
      case 3:
        return this.enveloped('prompts/get', { name: `${key}__greet`, arguments: { who: 'me' } });
      case 4:
        return this.enveloped('completion/complete', this.completion(key, uri));
      case 5:
        return this.era === 'modern' ? this.modernOnly(uri) : this.plain('ping', {});
      default:
        return this.enveloped('tools/call', this.call(key));
    }
  }

  private call(key: string): Fields {
    const { random } = this;
    const name = random.pick('echo', 'echo', 'slow', 'steps', 'ask', 'fail', 'log', 'touch', 'big', 'toggle');
    const given = { text: `t${this.last}`, ms: random.int(30), steps: random.int(4), bytes: random.int(2000) };
    const _meta = random.chance(0.4) ? { progressToken: random.pick<string | number>(`p${this.last}`, this.last) } : {};
    return { name: `${key}__${name}`, arguments: given, _meta };
  }

  private completion(key: string, uri: string): Fields {
    const ref = this.random.pick<Fields>({ type: 'ref/prompt', name: `${key}__greet` }, { type: 'ref/resource', uri });
    return { ref, argument: { name: 'who', value: 'm' }, context: { arguments: {} } };
  }

  private modernOnly(uri: string): Fields {
    if (this.random.chance(0.4)) return this.enveloped('server/discover', {});
    const notifications = { toolsListChanged: true, resourceSubscriptions: [uri] };
    return this.enveloped('subscriptions/listen', { notifications });
  }

  private handshakeOnly(): Fields {
    const { random } = this;
    const uri = `trial://${random.pick(...KEYS)}/one`;
    switch (random.int(5)) {
      case 0:
        return this.plain('resources/subscribe', { uri });
      case 1:
        return this.plain('resources/unsubscribe', { uri });
      case 2:
        return this.plain('logging/setLevel', { level: random.pick('debug', 'error') });
      case 3:
        return this.initialize(random.pick(...REVISIONS, MODERN), random);
      default:
        return this.plain(random.pick('acme/do', 'tasks/list', 'server/discover'), {});
    }
  }

  private notification(): Fields {
    const { random } = this;
    const requestId = random.oneOf(this.ids) ?? 1;
    const said = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId, reason: 'fuzz' } };
    if (random.chance(0.7)) return said;
    const method = random.pick('notifications/initialized', 'notifications/roots/list_changed', 'notifications/acme');
    return { jsonrpc: '2.0', method, params: random.chance(0.5) ? {} : { progressToken: requestId, progress: 1 } };
  }

  private response(id: string): Fields {
    const result = { action: 'accept', content: { n: this.random.int(9) } };
    return this.random.chance(0.8) ? { jsonrpc: '2.0', id, result } : this.refusal(id);
  }

  private enveloped(method: string, params: Fields): Fields {
    if (this.era === 'handshake') return this.plain(method, params);
    const meta = {
      [`${PREFIX}/protocolVersion`]: MODERN,
      [`${PREFIX}/clientCapabilities`]: this.random.chance(0.5) ? CAPABILITIES : {},
      ...(this.random.chance(0.2) ? { [`${PREFIX}/logLevel`]: 'info' } : {}),
    };
    const own = typeof params._meta === 'object' ? params._meta : {};
    return this.plain(method, { ...params, _meta: { ...own, ...meta } });
  }

  private plain(method: string, params: Fields): Fields {
    this.last += 1;
    const id = this.random.chance(0.5) ? this.last : `i${this.last}`;
    this.ids.push(id);
    if (method === 'tools/call') this.calls.set(id, params);
    if (this.ids.length > 20) this.calls.delete(this.ids.shift() ?? '');
    return { jsonrpc: '2.0', id, method, params };
  }
}
