/** The headers that make an upgrade a WebSocket handshake; several of one name arrive joined by commas. */
export interface HandshakeHeaders {
  readonly 'sec-websocket-key'?: string | undefined;
  readonly 'sec-websocket-version'?: string | undefined;
}

export const WEBSOCKET_VERSION = '13';
/** 16 bytes in base64. */
const KEY = /^[A-Za-z0-9+/]{22}==$/;

export function upgradesToWebSocket(upgrade: string | undefined): boolean {
  return upgrade?.toLowerCase() === 'websocket';
}

/** RFC 6455 section 4.2.1, without the subprotocols: what does not pass could not be answered 101. */
export function isHandshake(headers: HandshakeHeaders): boolean {
  return headers['sec-websocket-version'] === WEBSOCKET_VERSION && KEY.test(headers['sec-websocket-key'] ?? '');
}
