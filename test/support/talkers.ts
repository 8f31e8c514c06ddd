import { Client as Client2 } from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import {
  ElicitRequestSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { onTestFinished } from 'vitest';
import { z } from 'zod';
import { WebSocketClientTransport } from '../../src/client/index.ts';
import { withoutEra } from './era-normaliser.ts';
import { tapped } from './frame-tap.ts';
import { SDK2_MODES, type Sdk2Mode } from './sdk2-client.ts';

/** What a caller may want of a call. */
export interface Calling {
  readonly onprogress?: (progress: object) => void;
  readonly signal?: AbortSignal;
}

/** A client of an official SDK as its user sees it: the same whatever SDK and era. */
export interface Talker {
  /** Resolves with the result, without what only an era puts into it. */
  request(method: string, params?: Readonly<Record<string, unknown>>, calling?: Calling): Promise<object>;
  subscribe(uri: string): Promise<void>;
  /** What it has been told and asked so far. */
  readonly heard: Heard;
  /** Whether the connection is of the modern era. */
  readonly modern: boolean;
}

export interface Heard {
  readonly questions: object[];
  readonly updates: string[];
  changes: number;
}

const INFO = { name: 'talker', version: '1' };
const CAPABILITIES = { elicitation: { form: {} } };
/** What the person in front of it answers to every question. */
const ANSWER = { action: 'accept', content: { n: 7 } } as const;
const TIMEOUT_MS = 8000;
const AnyResult = z.looseObject({});

/** Every client of the proof, by the name it is reported under; each is closed, and its frames judged, when the test ends. */
export const TALKERS: Readonly<Record<string, (url: string) => Promise<Talker>>> = {
  'SDK 1.x': talker1,
  'SDK 2.x legacy': (url) => talker2(url, 'legacy'),
  'SDK 2.x auto': (url) => talker2(url, 'auto'),
  'SDK 2.x pinned': (url) => talker2(url, 'pinned'),
};

async function talker1(url: string): Promise<Talker> {
  const heard: Heard = { questions: [], updates: [], changes: 0 };
  const client = new Client1(INFO, { capabilities: CAPABILITIES });
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    heard.questions.push(params);
    return ANSWER;
  });
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void heard.updates.push(params.uri));
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
    heard.changes += 1;
  });
  await client.connect(tapped(new WebSocketClientTransport({ url })));
  onTestFinished(() => client.close());
  const request: Talker['request'] = async (method, params = {}, calling = {}) =>
    withoutEra(await client.request({ method, params }, AnyResult, { timeout: TIMEOUT_MS, ...calling }));
  return { request, heard, modern: false, subscribe: async (uri) => void (await client.subscribeResource({ uri })) };
}

async function talker2(url: string, mode: Sdk2Mode): Promise<Talker> {
  const heard: Heard = { questions: [], updates: [], changes: 0 };
  const versionNegotiation = { mode: SDK2_MODES[mode] };
  const client = new Client2(INFO, { capabilities: CAPABILITIES, versionNegotiation });
  client.setRequestHandler('elicitation/create', ({ params }) => {
    heard.questions.push(params);
    return ANSWER;
  });
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => void heard.updates.push(params.uri));
  client.setNotificationHandler('notifications/tools/list_changed', () => {
    heard.changes += 1;
  });
  await client.connect(tapped(new WebSocketClientTransport({ url })));
  onTestFinished(() => client.close());
  const modern = client.getProtocolEra() === 'modern';
  if (modern) await client.listen({ toolsListChanged: true });
  const request: Talker['request'] = async (method, params = {}, calling = {}) =>
    withoutEra(await client.request({ method, params }, AnyResult, { timeout: TIMEOUT_MS, ...calling }));
  const subscribe = async (uri: string) => {
    if (modern) await client.listen({ resourceSubscriptions: [uri] });
    else await client.subscribeResource({ uri });
  };
  return { request, heard, modern, subscribe };
}
