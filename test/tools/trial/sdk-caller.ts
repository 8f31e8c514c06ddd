import { Client as Client2 } from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { WebSocketClientTransport } from '../../../src/client/index.ts';
import { type Caller, type CallerEra, failure, textOf } from './caller.ts';

const INFO = { name: 'trial', version: '1' };
const TIMEOUT = { timeout: 60_000 };

/** A client of an official SDK on the gateway's own transport: SDK 1.x in the handshake era, SDK 2.x in the modern one. */
export async function openSdkCaller(port: number, token: string, era: CallerEra): Promise<Caller> {
  const transport = new WebSocketClientTransport({ url: `ws://127.0.0.1:${port}/mcp`, token });
  if (era === 'handshake') {
    const client = new Client1(INFO);
    await client.connect(transport);
    return caller(
      transport,
      async (params) => client.callTool(params, undefined, TIMEOUT),
      () => client.close(),
    );
  }
  const client = new Client2(INFO, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
  await client.connect(transport);
  return caller(
    transport,
    async (params) => client.callTool(params, TIMEOUT),
    () => client.close(),
  );
}

type Call = (params: { name: string; arguments: Record<string, unknown> }) => Promise<unknown>;

function caller(transport: WebSocketClientTransport, call: Call, close: () => Promise<void>): Caller {
  return {
    async call(name, given) {
      try {
        return { kind: 'text', text: textOf(await call({ name, arguments: { ...given } })) };
      } catch (error) {
        return transport.closed === undefined ? failure(error) : { kind: 'lost' };
      }
    },
    close,
  };
}
