/** The one subprotocol a server of MCP over WebSocket selects. */
export const MCP_SUBPROTOCOL = 'mcp';
/** Prefix under which a client that cannot set headers (a browser) carries its token. Never echoed. */
export const TOKEN_SUBPROTOCOL_PREFIX = 'mcp.auth.';

/** `select: null` accepts the upgrade without naming a subprotocol; `refuse` is answered 400. */
export type SubprotocolChoice = { readonly select: typeof MCP_SUBPROTOCOL | null } | { readonly refuse: true };

/** A token of RFC 9110, section 5.6.2. */
const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** Whether a raw `Sec-WebSocket-Protocol` value names subprotocols, each once (RFC 6455 section 4.1). */
export function offersEachOnce(header: string | undefined): boolean {
  if (header === undefined) return true;
  const offers = header.split(',').map((offer) => offer.trim());
  return offers.every((offer) => NAME.test(offer)) && new Set(offers).size === offers.length;
}

/** The offers of a raw `Sec-WebSocket-Protocol` value (RFC 6455 section 11.3.4), in order; several headers arrive joined by commas. */
export function offeredSubprotocols(header: string | undefined): readonly string[] {
  if (header === undefined) return [];
  return header
    .split(',')
    .map((offer) => offer.trim())
    .filter((offer) => offer !== '');
}

/**
 * What to answer to a list of offers. A client that offered something fails an upgrade that selects nothing of it
 * (RFC 6455 section 4.1), so offers without `mcp` are refused at once. Names compare exactly.
 */
export function chooseSubprotocol(offered: readonly string[]): SubprotocolChoice {
  if (offered.includes(MCP_SUBPROTOCOL)) return { select: MCP_SUBPROTOCOL };
  return offered.length === 0 ? { select: null } : { refuse: true };
}
