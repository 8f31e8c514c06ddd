import { TOKEN_SUBPROTOCOL_PREFIX } from '../protocol/subprotocol.ts';

/** Where an upgrade may carry a token, or a ticket in its place. */
export interface UpgradeCarriers {
  /** The header's value, or all of them (`headersDistinct.authorization`), so that a second one is seen. */
  readonly authorization: string | readonly string[] | undefined;
  /** As `offeredSubprotocols` reads them. */
  readonly subprotocols: readonly string[];
  /** The query of the request target, with or without its `?`. */
  readonly query: string;
}

/** `problem` is a fixed text; it never holds anything the caller sent. */
export type Carriage =
  | { readonly token: string }
  /** As it came; whether it is one is not judged here. */
  | { readonly ticket: string }
  | { readonly none: true }
  | { readonly problem: CarriageProblem };

export type CarriageProblem = (typeof PROBLEMS)[keyof typeof PROBLEMS];

const PROBLEMS = {
  query: 'A token must not be sent in the query',
  twice: 'A token must be sent in exactly one way',
  bearer: 'The Authorization header must hold exactly one Bearer token',
  subprotocol: 'The subprotocol mcp.auth must hold exactly one token',
  ticket: 'The query must hold exactly one ticket',
} as const;

/** Names under which clients put tokens into URLs, where proxies and logs keep them (RFC 6750 section 5.3). */
const FORBIDDEN_IN_QUERY: ReadonlySet<string> = new Set(['token', 'access_token', 'jwt']);
/** `token68` of RFC 7235 section 2.1. */
const TOKEN68 = /^[A-Za-z0-9\-._~+/]+=*$/;

const TICKET = 'ticket';

/**
 * Finds the one token, or ticket, of an upgrade. Called before anything is verified. An Authorization header of another scheme is
 * no carriage of ours: a proxy in front may use it.
 */
export function carriedToken(carriers: UpgradeCarriers): Carriage {
  if (hasForbiddenName(carriers.query)) return { problem: PROBLEMS.query };
  const ways = [fromHeader(carriers.authorization), fromSubprotocols(carriers.subprotocols), ticketOf(carriers.query)];
  const problem = ways.find((way) => 'problem' in way);
  if (problem !== undefined) return problem;
  const [found, another] = ways.filter((way) => !('none' in way));
  if (another !== undefined) return { problem: PROBLEMS.twice };
  return found ?? { none: true };
}

/** Percent-encoded and differently cased spellings are the same mistake and leak the same token. */
function hasForbiddenName(query: string): boolean {
  return [...new URLSearchParams(query).keys()].some((name) => FORBIDDEN_IN_QUERY.has(name.toLowerCase()));
}

/** A percent-encoded name is the same name; one in another case is a mistake that should not be met with "no token". */
function ticketOf(query: string): Carriage {
  const named = [...new URLSearchParams(query)].filter(([name]) => name.toLowerCase() === TICKET);
  const [first] = named;
  if (first === undefined) return { none: true };
  const [name, ticket] = first;
  return named.length === 1 && name === TICKET ? { ticket } : { problem: PROBLEMS.ticket };
}

function fromHeader(authorization: UpgradeCarriers['authorization']): Carriage {
  const values = typeof authorization === 'string' ? [authorization] : (authorization ?? []);
  const [value] = values;
  if (value === undefined) return { none: true };
  if (values.length > 1) return { problem: PROBLEMS.bearer };
  const [scheme = '', ...rest] = value.trim().split(' ');
  if (scheme.toLowerCase() !== 'bearer') return { none: true };
  const token = rest.join(' ').trim();
  return TOKEN68.test(token) ? { token } : { problem: PROBLEMS.bearer };
}

function fromSubprotocols(offered: readonly string[]): Carriage {
  const carried = offered.filter((offer) => offer.startsWith(TOKEN_SUBPROTOCOL_PREFIX));
  const [offer] = carried;
  if (offer === undefined) return { none: true };
  const token = offer.slice(TOKEN_SUBPROTOCOL_PREFIX.length);
  return carried.length === 1 && TOKEN68.test(token) ? { token } : { problem: PROBLEMS.subprotocol };
}
