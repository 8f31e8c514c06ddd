import { describe, expect, test } from 'vitest';
import { FrameTap, type FrameTapOptions } from '../support/frame-tap.ts';

const VERSION = 'io.modelcontextprotocol/protocolVersion';
const ENVELOPE = {
  [VERSION]: '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};
const SERVER = { name: 'mcp-ws-gateway', version: '0' };
const cached = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };

/** A tap that has heard a handshake of this revision. */
function handshake(protocolVersion = '2025-11-25', options: FrameTapOptions = {}): FrameTap {
  const tap = new FrameTap(options);
  tap.sent(request('i', 'initialize'));
  tap.received(answer('i', { protocolVersion, capabilities: {}, serverInfo: SERVER }));
  return tap;
}

/** A tap that has heard a modern request and its answer. */
function modern(options: FrameTapOptions = {}): FrameTap {
  const tap = new FrameTap(options);
  tap.sent(request('m', 'tools/list', { _meta: ENVELOPE }));
  tap.received(answer('m', { ...cached, tools: [] }));
  return tap;
}

const request = (id: unknown, method: string, params: object = {}) => ({ jsonrpc: '2.0', id, method, params });
const answer = (id: unknown, result: unknown) => ({ jsonrpc: '2.0', id, result });
const error = (id: unknown, code: unknown, data?: object) => ({
  jsonrpc: '2.0',
  id,
  error: { code, message: 'no', ...(data === undefined ? {} : { data }) },
});
const news = (method: string, params?: object) => ({
  jsonrpc: '2.0',
  method,
  ...(params === undefined ? {} : { params }),
});

/** What the tap says to these frames, after this has been asked. */
function faults(tap: FrameTap, asked: readonly string[], ...frames: readonly unknown[]): readonly string[] {
  for (const [at, method] of asked.entries()) tap.sent(request(at, method, { _meta: ENVELOPE }));
  for (const frame of frames) tap.received(frame);
  return tap.faults();
}

describe('a handshake client takes', () => {
  test.each<[asked: string, frame: unknown]>([
    ['tools/list', answer(0, { tools: [{ name: 'a', inputSchema: { type: 'object' }, vendor: 1 }], more: 1 })],
    ['tools/call', answer(0, { content: [{ type: 'text', text: 'x' }] })],
    ['ping', answer(0, {})],
    ['vendor/method', answer(0, { anything: 1 })],
    ['tools/call', error(0, -32602)],
    ['ping', error(null, -32700)],
    ['ping', news('notifications/tools/list_changed')],
    ['ping', news('notifications/vendor', { any: 1 })],
    ['ping', request('g1', 'roots/list')],
  ])('after %s %j', (asked, frame) => {
    expect(faults(handshake(), [asked], frame)).toEqual([]);
  });
});

describe('a handshake client does not take', () => {
  test.each<[asked: string, frame: unknown, why: RegExp]>([
    ['tools/list', answer(0, { tools: [{ name: 'a' }] }), /^no ListToolsResult: .*inputSchema/],
    ['tools/call', answer(0, {}), /^no CallToolResult: .*content/],
    ['ping', answer(0, { resultType: 'complete' }), /^no EmptyResult: it has resultType/],
    ['ping', answer('0', {}), /^an answer to nothing that was asked/],
    ['ping', answer(1, {}), /^an answer to nothing that was asked/],
    ['ping', { id: 0, result: {} }, /^no JSONRPCResultResponse: .*jsonrpc/],
    ['ping', error(0, '1'), /^no JSONRPCErrorResponse: .*code/],
    ['ping', error(0, -32022, { supported: [], requested: '' }), /^-32022 is no code of 2025-11-25/],
    ['ping', error(0, -32042), /^no URLElicitationRequiredError/],
    ['ping', news('notifications/progress', { progress: 1 }), /^no ProgressNotification: .*progressToken/],
    ['ping', request('g1', 'elicitation/create', {}), /^no ElicitRequest/],
    ['ping', request('g1', 'tools/list'), /^a server of 2025-11-25 does not ask tools\/list/],
    ['ping', request(null, 'roots/list'), /^no JSONRPCRequest: .*id/],
    ['ping', [answer(0, {})], /^an array of messages/],
    ['ping', '"hello"', /^no message/],
    ['ping', 'hello', /^no message/],
  ])('after %s %j', (asked, frame, why) => {
    expect(faults(handshake(), [asked], frame)).toEqual([expect.stringMatching(why)]);
  });

  test('a second answer to one request', () => {
    expect(faults(handshake(), ['ping'], answer(0, {}), answer(0, {}))).toHaveLength(1);
  });
});

describe('a modern client takes', () => {
  test.each<[asked: string, frame: unknown]>([
    ['server/discover', answer(0, { ...cached, supportedVersions: ['2026-07-28'], capabilities: {} })],
    ['tools/call', answer(0, { resultType: 'complete', content: [] })],
    ['tools/call', answer(0, { resultType: 'input_required', requestState: 's' })],
    ['tools/call', error(0, -32021, { requiredCapabilities: { sampling: {} } })],
    ['initialize', error(0, -32022, { supported: ['2026-07-28'], requested: '2025-11-25' })],
  ])('after %s %j', (asked, frame) => {
    expect(faults(modern(), [asked], frame)).toEqual([]);
  });
});

describe('a modern client does not take', () => {
  test.each<[asked: string, frame: unknown, why: RegExp]>([
    ['tools/call', answer(0, { content: [] }), /^no JSONRPCResultResponse: .*resultType/],
    ['tools/list', answer(0, { resultType: 'complete', tools: [] }), /^no ListToolsResult: .*(ttlMs|cacheScope)/],
    ['tools/list', answer(0, { resultType: 'input_required' }), /^tools\/list is never answered input_required/],
    [
      'tools/call',
      answer(0, { resultType: 'input_required', inputRequests: { a: { method: 'x' } } }),
      /^no InputRequiredResult/,
    ],
    ['tools/call', error(0, -32021), /^no MissingRequiredClientCapabilityError/],
    ['resources/read', error(0, -32002), /^-32002 is no code of 2026-07-28/],
    ['ping', request('g1', 'roots/list'), /^a server of 2026-07-28 does not ask roots\/list/],
    ['ping', news('notifications/subscriptions/acknowledged'), /^no SubscriptionsAcknowledgedNotification/],
  ])('after %s %j', (asked, frame, why) => {
    expect(faults(modern(), [asked], frame)).toEqual([expect.stringMatching(why)]);
  });
});

describe('before there is an era', () => {
  test.each<[asked: string, frame: unknown, count: number]>([
    ['server/discover', answer(0, { ...cached, supportedVersions: ['2026-07-28'], capabilities: {} }), 0],
    ['server/discover', answer(0, { supportedVersions: ['2026-07-28'], capabilities: {} }), 1],
    ['server/discover', error(0, -32022, { supported: ['2026-07-28'], requested: '2099-01-01' }), 0],
    ['server/discover', error(0, -32022), 1],
    ['initialize', error(0, -32602), 0],
  ])('%s may be answered %j: %s faults', (asked, frame, count) => {
    expect(faults(new FrameTap(), [asked], frame)).toHaveLength(count);
  });

  test('a request before initialize is refused as a handshake one, one of an unknown version as a modern one', () => {
    const tap = new FrameTap();
    tap.sent(request('h', 'tools/list'));
    tap.sent(request('m', 'tools/list', { _meta: { ...ENVELOPE, [VERSION]: '2099-01-01' } }));
    const data = { supported: ['2026-07-28'], requested: '2099-01-01' };
    expect(faults(tap, [], error('h', -32600), error('m', -32022, data))).toEqual([]);
  });
});

describe('the revision that was opened', () => {
  const link = answer(0, { content: [{ type: 'resource_link', uri: 'a://b', name: 'b' }] });

  test.each([
    ['2025-11-25', 0],
    ['2025-06-18', 0],
    ['2025-03-26', 1],
    ['2024-11-05', 1],
  ])('is the one frames are held against: %s', (revision, count) => {
    expect(faults(handshake(revision), ['tools/call'], link)).toHaveLength(count);
  });

  test('alone says whether an array is one', () => {
    expect(faults(handshake('2025-03-26'), ['ping'], [answer(0, {})])).toEqual([]);
    expect(faults(handshake('2025-03-26'), ['ping'], [answer(0, { a: 1 })])).toHaveLength(1);
    expect(faults(handshake('2025-03-26'), ['ping'], [])).toHaveLength(1);
    expect(faults(handshake('2024-11-05'), ['ping'], [answer(0, {})])).toHaveLength(1);
  });
});

test('an id used again after its call was cancelled is held against what may still be answered', () => {
  const tap = handshake();
  tap.sent(request(0, 'tools/call'));
  tap.sent(news('notifications/cancelled', { requestId: 0 }));
  expect(faults(tap, ['tools/list'], answer(0, { tools: [] }), answer(0, { content: [] }))).toEqual([]);
});

test('an odd upstream is let through, the gateway’s own words are not', () => {
  const odd = { odd: 'its tools have no schema' };
  expect(faults(handshake('2025-11-25', odd), ['tools/list'], answer(0, { tools: [{ name: 'a' }] }))).toEqual([]);
  expect(faults(handshake('2025-11-25', odd), ['ping'], answer(0, { a: 1 }))).toHaveLength(1);
  expect(faults(handshake('2025-11-25', odd), ['tools/list'], { id: 0, result: {} })).toHaveLength(1);
  expect(faults(modern(odd), ['server/discover'], answer(0, { resultType: 'complete' }))).toHaveLength(1);
});
