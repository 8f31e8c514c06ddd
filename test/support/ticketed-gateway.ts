import type { Clock } from '../../src/ports/clock.ts';
import { fileGateway } from './file-gateway.ts';
import type { TestGateway } from './gateway.ts';
import { makeIssuer } from './tokens.ts';

export const issuer = await makeIssuer();
/** The one origin whose pages may connect. */
export const APP = 'https://app.example';

/** What a gateway needs to judge the issuer's tokens and to let pages of `APP` in; `more` is laid over it, `auth` over its part. */
export function browserConfig(
  more: Readonly<Record<string, unknown>> = {},
  auth: object = {},
): Readonly<Record<string, unknown>> {
  return {
    auth: {
      mode: 'jwt',
      resource: issuer.audience,
      issuers: [{ issuer: issuer.issuer, keys: { secret: issuer.secret } }],
      ...auth,
    },
    origins: [APP],
    policy: 'allow-authenticated',
    ...more,
  };
}

/** One such gateway for all tests of a file. */
export function browserGateway(
  more: Readonly<Record<string, unknown>> = {},
  auth: object = {},
  clock?: Clock,
): () => TestGateway {
  return fileGateway(browserConfig(more, auth), clock);
}

export interface Asked {
  readonly token?: string | undefined;
  readonly origin?: string | undefined;
  /** Behind `/mcp/tickets`. */
  readonly query?: string;
  readonly body?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A request to the tickets' route. */
export function askTicket({ url }: { readonly url: string }, asked: Asked = {}): Promise<Response> {
  const { token, origin, query = '', body, method = 'POST', headers = {} } = asked;
  return fetch(`${url.replace('ws:', 'http:')}/tickets${query}`, {
    method,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(origin === undefined ? {} : { origin }),
      ...headers,
    },
    ...(body === undefined ? {} : { body }),
  });
}

/** A ticket of the issuer's alice, or of `token`'s owner. */
export async function ticketOf(gateway: { readonly url: string }, asked: Asked = {}): Promise<string> {
  const answer = await askTicket(gateway, { ...asked, token: asked.token ?? (await issuer.sign()) });
  const body: unknown = await answer.json();
  if (typeof body === 'object' && body !== null && 'ticket' in body) return String(body.ticket);
  throw new Error(`no ticket: ${answer.status} ${JSON.stringify(body)}`);
}
