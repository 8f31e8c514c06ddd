import type { Transport as Transport2 } from '@modelcontextprotocol/client';
import type { Transport as Transport1 } from '@modelcontextprotocol/sdk/shared/transport.js';
import { describe, expectTypeOf, test } from 'vitest';
import { WebSocketClientTransport } from '../../src/client/index.ts';
import { clientKit } from '../kits/client-kit.ts';

describe('the client library, as it is written', () => {
  clientKit(async () => ({ WebSocketClientTransport }));

  test('is a transport to the compiler, for both SDKs', () => {
    expectTypeOf<WebSocketClientTransport>().toExtend<Transport1>();
    expectTypeOf<WebSocketClientTransport>().toExtend<Transport2>();
  });
});
