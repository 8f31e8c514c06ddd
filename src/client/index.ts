/** What `mcp-ws-gateway/client` exports. */
export { CLOSE_CODES } from '../protocol/close-codes.ts';
export type { Carriage } from './carriage.ts';
export type { Heartbeat } from './heartbeat.ts';
export type { JsonRpcMessage } from './message.ts';
export { UpgradeRefusedError } from './refused.ts';
export { type Closed, type WebSocketClientOptions, WebSocketClientTransport } from './transport.ts';
