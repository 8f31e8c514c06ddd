/** Handshake revisions of MCP the gateway speaks, newest first. */
export const HANDSHAKE_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'] as const;

export const LATEST_HANDSHAKE = HANDSHAKE_VERSIONS[0];

/** Revisions of the modern era: no handshake, an envelope on every request. */
export const MODERN_VERSIONS = ['2026-07-28'] as const;

export type Era = 'handshake' | 'modern';

/** Where a notice says which `subscriptions/listen` it is for. */
export const SUBSCRIPTION_ID_KEY = 'io.modelcontextprotocol/subscriptionId';

/** The member of `params._meta` that makes a request one of the modern era (MCP 2026-07-28). */
export const MODERN_VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';
