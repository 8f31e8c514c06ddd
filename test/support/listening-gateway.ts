import { expect } from 'vitest';
import { startGateway, type TestGateway } from './gateway.ts';
import { acknowledge, type HeardListen, listens, modernScript } from './modern-script.ts';
import { parseMetrics, sampleValue } from './prometheus-text.ts';
import type { RawClient } from './raw-client.ts';
import { type Asked, type Script, type ScriptedUpstream, scriptedUpstream } from './scripted-upstream.ts';

export const ONE = 'note://one';
export const TWO = 'note://two';
export const UPDATED = 'notifications/resources/updated';
export const SUBSCRIBABLE = { tools: {}, resources: { subscribe: true } };

export interface ListeningOptions {
  readonly capabilities?: object;
  readonly script?: Script;
  readonly entry?: object;
}

export interface ListeningGateway {
  readonly upstream: ScriptedUpstream;
  readonly gateway: TestGateway;
  /** All listens so far, once they are this many. */
  heard(count: number): Promise<HeardListen[]>;
}

/** A gateway before a scripted upstream of the modern era, ready. */
export async function openListening(options: ListeningOptions = {}): Promise<ListeningGateway> {
  const { capabilities = SUBSCRIBABLE, script = {}, entry = { isolation: 'shared' } } = options;
  const upstream = await scriptedUpstream(modernScript({ ...capabilities }, script), { ...entry });
  const gateway = await startGateway({ mcpServers: { up: upstream.entry }, timing: { listChangeCoalesce: '1ms' } });
  await gateway.ready();
  const heard = async (count: number) => {
    await expect.poll(() => listens(upstream).length, { timeout: 10_000 }).toBe(count);
    return listens(upstream);
  };
  return { upstream, gateway, heard };
}

/** Answers its tool. */
export const CALLS: Script = {
  'tools/call': ({ result }) => result({ content: [{ type: 'text', text: 'called' }] }),
};

/** Acknowledges every listen at once. */
export const EAGER: Script = { 'subscriptions/listen': (asked) => acknowledge(asked) };

/** Keeps every listen until the test acknowledges it. */
export function patient(): { script: Script; asked: Asked[] } {
  const asked: Asked[] = [];
  return { asked, script: { 'subscriptions/listen': (listen) => void asked.push(listen) } };
}

/** Acknowledges every listen at once, and keeps it. */
export function keeping(): { script: Script; asked: Asked[] } {
  const asked: Asked[] = [];
  const script: Script = {
    'subscriptions/listen': (listen) => {
      asked.push(listen);
      acknowledge(listen);
    },
  };
  return { asked, script };
}

export function subscribe(client: RawClient, uri: string, id: string = uri): void {
  client.send({ jsonrpc: '2.0', id, method: 'resources/subscribe', params: { uri } });
}

export function done(id: string): object {
  return { jsonrpc: '2.0', id, result: {} };
}

export function updated(uri: string): object {
  return { jsonrpc: '2.0', method: UPDATED, params: { uri } };
}

/** How many messages of the upstream nobody expected. */
export async function unexpected(gateway: TestGateway, kind: 'late' | 'unknown'): Promise<number> {
  const labels = { source: 'upstream', kind };
  return sampleValue(parseMetrics(await gateway.metrics()), 'mcp_gateway_unexpected_answers_total', labels) ?? 0;
}
