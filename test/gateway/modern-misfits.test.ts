import { expect, test } from 'vitest';
import { fileGateway } from '../support/file-gateway.ts';
import { stdioUpstream } from '../support/gateway.ts';
import { errorAnswer } from '../support/messages.ts';
import { modernRequest } from '../support/modern-messages.ts';
import { connectRaw } from '../support/raw-client.ts';

const gateway = fileGateway({
  limits: { inFlight: 2 },
  mcpServers: { up: stdioUpstream('plain.mjs', [], { isolation: 'shared' }) },
});

/** Members of `_meta` that the SDK takes for no request's. */
const MISFITS: readonly object[] = [
  { progressToken: {} },
  { progressToken: 1.5 },
  { progressToken: null },
  { 'io.modelcontextprotocol/related-task': { taskId: 7 } },
];
const ASKED: readonly (readonly [method: string, params: object])[] = [
  ['server/discover', {}],
  ['subscriptions/listen', { notifications: { toolsListChanged: true } }],
];

test.each(ASKED)(
  '%s with a _meta of the wrong kind is answered, and keeps no place among those in flight',
  async (method, params) => {
    const client = await connectRaw(gateway().url);
    for (const [at, meta] of MISFITS.entries()) {
      expect(await client.ask(modernRequest(at, method, params, { meta }))).toEqual(
        errorAnswer(at, -32602, `Invalid params of ${method}`),
      );
    }
    expect(await client.ask(modernRequest('well', 'server/discover'))).toMatchObject({ id: 'well', result: {} });
  },
);
