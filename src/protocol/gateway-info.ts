/** What the gateway calls itself on both sides; the version is package.json's, held equal by a test. */
export const GATEWAY_NAME = 'mcp-ws-gateway';
export const GATEWAY_VERSION = '0.1.0';
