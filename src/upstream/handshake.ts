import { z } from 'zod';
import type { Peer } from '../ports/link.ts';
import type { ClientCapabilities } from '../protocol/capabilities.ts';
import { notificationText } from '../protocol/compose.ts';
import { HANDSHAKE_VERSIONS, LATEST_HANDSHAKE } from '../protocol/era.ts';
import { GATEWAY_NAME, GATEWAY_VERSION } from '../protocol/gateway-info.ts';
import { modest } from './discover.ts';

const InitializeResult = z.object({
  protocolVersion: z.enum(HANDSHAKE_VERSIONS),
  capabilities: z.record(z.string(), z.unknown()),
  instructions: z.string().optional(),
});

/**
 * The client's side of `initialize` (MCP 2025-11-25, Lifecycle): asks for the newest revision, takes any the gateway
 * speaks, declares what the client behind the link did. Rejects when the answer is not one the gateway can work with.
 */
export async function handshake(
  ask: (method: string, params: string) => Promise<string>,
  send: (text: string) => boolean,
  capabilities: ClientCapabilities,
): Promise<Peer> {
  const clientInfo = { name: GATEWAY_NAME, version: GATEWAY_VERSION };
  const params = { protocolVersion: LATEST_HANDSHAKE, capabilities, clientInfo };
  const answer = InitializeResult.safeParse(JSON.parse(modest(await ask('initialize', JSON.stringify(params)))));
  if (!answer.success) throw new Error('the answer to initialize is not one of a handshake revision');
  send(notificationText('notifications/initialized'));
  const { protocolVersion, instructions } = answer.data;
  return { era: 'handshake', protocolVersion, capabilities: answer.data.capabilities, instructions };
}
