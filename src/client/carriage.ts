import { MCP_SUBPROTOCOL, TOKEN_SUBPROTOCOL_PREFIX } from '../protocol/subprotocol.ts';

export type Carriage = 'header' | 'subprotocol';

export interface Carried {
  readonly protocols: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
}

/** RFC 6750 section 2.1; also what a subprotocol can hold, `=` and `/` apart. */
const TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/;
const SUBPROTOCOL = /^[A-Za-z0-9!#$%&'*+\-.^_`|~]+$/;

/** What an upgrade carries of a token. Throws, never quoting it, where it cannot be carried that way. */
export function carry(token: string | undefined, carriage: Carriage): Carried {
  if (token === undefined) return { protocols: [MCP_SUBPROTOCOL], headers: {} };
  const carried = carriage === 'header' ? TOKEN : SUBPROTOCOL;
  if (!carried.test(token)) throw new TypeError(`the token holds what a ${carriage} cannot carry`);
  if (carriage === 'header') return { protocols: [MCP_SUBPROTOCOL], headers: { authorization: `Bearer ${token}` } };
  return { protocols: [MCP_SUBPROTOCOL, `${TOKEN_SUBPROTOCOL_PREFIX}${token}`], headers: {} };
}
