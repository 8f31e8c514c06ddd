import { MCP_SUBPROTOCOL, TOKEN_SUBPROTOCOL_PREFIX } from '../protocol/subprotocol.ts';

export type Carriage = 'header' | 'subprotocol' | 'ticket';

export interface Carried {
  readonly protocols: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  /** What the query of the URL is to hold. */
  readonly query: Readonly<Record<string, string>>;
}

/** RFC 6750 section 2.1; also what a subprotocol can hold, `=` and `/` apart. */
const TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/;
const SUBPROTOCOL = /^[A-Za-z0-9!#$%&'*+\-.^_`|~]+$/;
/** base64url; nothing that a token is made of. */
const TICKET = /^[A-Za-z0-9_-]+$/;
const FITS: Readonly<Record<Carriage, RegExp>> = { header: TOKEN, subprotocol: SUBPROTOCOL, ticket: TICKET };

/** What an upgrade carries of a token, or of the ticket that stands for one. Throws, never quoting it, where it cannot be carried that way. */
export function carry(token: string | undefined, carriage: Carriage): Carried {
  const none = { protocols: [MCP_SUBPROTOCOL], headers: {}, query: {} };
  if (token === undefined) return none;
  if (!FITS[carriage].test(token)) throw new TypeError(`the token holds what a ${carriage} cannot carry`);
  if (carriage === 'ticket') return { ...none, query: { ticket: token } };
  if (carriage === 'header') return { ...none, headers: { authorization: `Bearer ${token}` } };
  return { ...none, protocols: [MCP_SUBPROTOCOL, `${TOKEN_SUBPROTOCOL_PREFIX}${token}`] };
}
