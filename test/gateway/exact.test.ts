import { expect, test } from 'vitest';
import { fileGateway, recordFile } from '../support/file-gateway.ts';
import { stdioUpstream } from '../support/gateway.ts';
import { openRaw } from '../support/raw-client.ts';

/** As no serialiser would write it: numbers beyond 2^53, escapes that need none, white space, unknown members. */
const DEFINITION =
  '"description":"\\u0065cho  ü \\ud83d\\ude00","inputSchema":{"type":"object","x-limit":9223372036854775807, "x-small":1.0e-2},' +
  '"icons":[{"src":"data:,"}],"execution":{"taskSupport":"optional"},"_meta":{"vendor/x":[1.50,null]},"x-vendor":{"b":1,"a":-0}';

const session = recordFile();
const shared = recordFile();
const raw = (path: string, more = {}) => stdioUpstream('raw.mjs', [path, `[{"name":"echo",${DEFINITION}}]`], more);
const gateway = fileGateway({
  mcpServers: { own: raw(session.path), all: raw(shared.path, { isolation: 'shared' }) },
});

test('a definition is listed as its upstream wrote it, with another name', async () => {
  const client = await openRaw(gateway().url);
  client.send('{"jsonrpc":"2.0","id":"l\\u0031","method":"tools/list"}');
  expect(await client.next()).toBe(
    `{"jsonrpc":"2.0","id":"l1","result":{"tools":[{"name":"all__echo",${DEFINITION}},{"name":"own__echo",${DEFINITION}}]}}`,
  );
});

test.each([
  ['own', session],
  ['all', shared],
])('what %s is sent and what it answers are the very bytes, but for id, name and token', async (upstream, record) => {
  const client = await openRaw(gateway().url);
  const given =
    '{"n":9223372036854775807, "e":1E400,"f":0.10,"s":"\\u0041\\/ü\\ud83d\\ude00","__proto__":[ ],"":{"":null}}';
  client.send(
    `{ "id":7,"method":"tools/call","jsonrpc":"2.0","params":{"_meta":{"vendor":1.0,"progressToken":"tok\\u002d1"},"x-vendor":[12345678901234567890],"name":"${upstream}__\\u0065cho","arguments":${given}}}`,
  );
  expect(await client.next()).toBe(
    `{"jsonrpc":"2.0","id":7,"result":{"content":[],"structuredContent":${given},"vendor":9223372036854775807}}`,
  );
  const line = record.lines().at(-1) ?? '';
  const [, id] = /"id":(\d+),/.exec(line) ?? [];
  expect(line).toBe(
    `{ "id":${id},"method":"tools/call","jsonrpc":"2.0","params":{"_meta":{"vendor":1.0,"progressToken":${id}},"x-vendor":[12345678901234567890],"name":"echo","arguments":${given}}}`,
  );
});

test('the link an upstream is listed by declares all that any client could, and nothing of a client’s', () => {
  const [probed, first, second] = session.lines();
  expect(probed).toContain('"method":"server/discover"');
  expect(JSON.parse(first ?? '')).toEqual({
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: {
      protocolVersion: '2025-11-25',
      capabilities: {
        elicitation: { form: {}, url: {} },
        sampling: { tools: {}, context: {} },
        roots: { listChanged: true },
      },
      clientInfo: { name: 'mcp-ws-gateway', version: '0.1.0' },
    },
  });
  expect(second).toBe('{"jsonrpc":"2.0","method":"notifications/initialized"}');
});
