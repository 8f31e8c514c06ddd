import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openGateway, type TestGateway } from '../support/gateway.ts';
import { cancellation, textAnswer, toolCall } from '../support/messages.ts';
import { openRaw, type RawClient } from '../support/raw-client.ts';
import { type Asked, offering, type ScriptedUpstream, scriptedUpstream } from '../support/scripted-upstream.ts';

/** So much fits into each table of the gateway: one entry that stays behind is missed at once. */
const ROOM = 3;

/** What happens next; `at` picks a call or a resource. */
type Step = { readonly kind: (typeof KINDS)[number]; readonly at: number };
const KINDS = [
  'call',
  'answer',
  'fail',
  'progress',
  'cancel',
  'subscribe',
  'unsubscribe',
  'update',
  'ask',
  'crash',
] as const;
const steps: fc.Arbitrary<Step[]> = fc.array(fc.record({ kind: fc.constantFrom(...KINDS), at: fc.nat(ROOM) }), {
  maxLength: 30,
});

const uri = (at: number) => `note://${at}`;

/** One client and its upstream, led through steps in which each waits for what it set off. */
class Story {
  readonly upstream: ScriptedUpstream;
  readonly client: RawClient;
  private readonly held: Asked[];
  private last = 0;

  constructor(upstream: ScriptedUpstream, client: RawClient, held: Asked[]) {
    this.upstream = upstream;
    this.client = client;
    this.held = held;
  }

  async take({ kind, at }: Step): Promise<void> {
    const call = this.held[at % Math.max(1, this.held.length)];
    if (kind === 'call') await this.call();
    else if (kind === 'subscribe' || kind === 'unsubscribe')
      this.client.send({ jsonrpc: '2.0', id: `s${at}`, method: `resources/${kind}`, params: { uri: uri(at) } });
    else if (kind === 'cancel') this.client.send(cancellation(at));
    else if (call !== undefined) this.act(kind, call);
    await this.client.barrier();
  }

  /** Under ids that come again and again: one that is in flight is refused. */
  private async call(): Promise<void> {
    this.last = (this.last + 1) % ROOM;
    this.client.send(toolCall(this.last, 'u__act', {}, { progressToken: this.last }));
    await this.client.barrier();
  }

  private act(kind: Step['kind'], call: Asked): void {
    const { link } = call;
    const progressToken = call.params._meta?.progressToken;
    if (kind === 'progress')
      link.send({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken, progress: 1 } });
    else if (kind === 'update')
      link.send({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: uri(0) } });
    else if (kind === 'ask') link.send({ jsonrpc: '2.0', id: `q${call.id}`, method: 'roots/list' });
    else if (kind === 'crash') link.hangUp();
    else {
      this.held.splice(this.held.indexOf(call), 1);
      if (kind === 'fail') call.error({ code: -1, message: 'failed' });
      else call.result({ content: [] });
    }
  }

  /** Ends what is open: cancels, and lets go of every subscription. */
  async end(): Promise<void> {
    for (let id = 0; id < ROOM; id += 1) this.client.send(cancellation(id));
    for (let at = 0; at <= ROOM; at += 1) {
      this.client.send({ jsonrpc: '2.0', id: `e${at}`, method: 'resources/unsubscribe', params: { uri: uri(at) } });
      await this.until(`e${at}`);
    }
    this.held.length = 0;
  }

  /** Fills every table to its limit, which takes that it was empty. */
  async fill(): Promise<void> {
    const { client } = this;
    for (let at = 0; at < ROOM; at += 1) {
      client.send({ jsonrpc: '2.0', id: `f${at}`, method: 'resources/subscribe', params: { uri: `note://new${at}` } });
      expect(JSON.parse(await this.until(`f${at}`))).toEqual({ jsonrpc: '2.0', id: `f${at}`, result: {} });
    }
    for (let id = 0; id < ROOM; id += 1) client.send(toolCall(id, 'u__act'));
    await expect.poll(() => this.held.length).toBe(ROOM);
    expect((await client.barrier()).filter((frame) => frame.includes('"error"'))).toEqual([]);
    for (const call of this.held.splice(0)) call.result({ content: [{ type: 'text', text: 'a' }] });
    const answers = [await client.json(), await client.json(), await client.json()];
    expect(answers).toEqual([0, 1, 2].map((id) => textAnswer(id, 'a')));
  }

  private async until(id: string): Promise<string> {
    for (;;) {
      const frame = await this.client.next();
      if (JSON.parse(frame).id === id) return frame;
    }
  }
}

/** Gauges of what one session may leave behind. */
async function left(gateway: TestGateway): Promise<string[]> {
  const metrics = await gateway.metrics();
  return metrics.split('\n').filter((line) => /^mcp_gateway_(connections|inflight_requests|outbox_bytes) /.test(line));
}

test('after any order of calls, answers, cancellations, questions and crashes every table of a session is empty', async () => {
  const held: Asked[] = [];
  const done = ({ result }: Asked) => result({});
  const upstream = await scriptedUpstream({
    ...offering('act'),
    'tools/call': (asked) => void held.push(asked),
    'resources/list': ({ result }) => result({ resources: [] }),
    'resources/templates/list': ({ result }) =>
      result({ resourceTemplates: [{ uriTemplate: 'note://{n}', name: 'n' }] }),
    'resources/subscribe': done,
    'resources/unsubscribe': done,
  });
  const property = fc.asyncProperty(steps, async (story) => {
    held.length = 0;
    const gateway = await openGateway({
      limits: { inFlight: ROOM, subscriptions: ROOM, requestsPerSecond: null },
      timing: { drain: { inFlight: '0s', waves: '0s' } },
      mcpServers: { u: { ...upstream.entry, concurrency: ROOM } },
    });
    try {
      await gateway.ready();
      const client = await openRaw(gateway.url, {}, { roots: {} });
      const told = new Story(upstream, client, held);
      for (const step of story) await told.take(step);
      await told.end();
      await told.fill();
      client.send(toolCall('left', 'u__act'));
      await expect.poll(() => held.length).toBe(1);
      client.socket.terminate();
      await expect
        .poll(() => left(gateway))
        .toEqual(['mcp_gateway_connections 0', 'mcp_gateway_inflight_requests 0', 'mcp_gateway_outbox_bytes 0']);
      await expect.poll(() => links(gateway)).toEqual(['mcp_gateway_links{upstream="u",isolation="session"} 0']);
    } finally {
      await gateway.close();
    }
  });
  await fc.assert(property, { numRuns: 20 });
}, 120_000);

/** Of session links; the one the lists come from is not among them. */
async function links(gateway: TestGateway): Promise<string[]> {
  const metrics = await gateway.metrics();
  return metrics.split('\n').filter((line) => line.startsWith('mcp_gateway_links{') && line.includes('session'));
}
