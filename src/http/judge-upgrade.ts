import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { carriedToken } from '../auth/carriage.ts';
import { hostAllowed, originAllowed } from '../policy/origin.ts';
import { chooseSubprotocol, offeredSubprotocols, offersEachOnce } from '../protocol/subprotocol.ts';
import { isHandshake } from '../protocol/websocket-handshake.ts';
import type { RefusalReason } from './refusals.ts';

/** The headers of a request, and each that is there several times. */
export type Said = Pick<IncomingMessage, 'headers' | 'headersDistinct'>;

/** What an upgrade says before anything is verified. */
export interface UpgradeFacts extends Said {
  readonly query: string;
}

export interface UpgradeRules {
  readonly hosts: readonly string[];
  readonly origins: readonly string[];
  /** In anonymous mode a token is not asked for, and an upgrade that came through a proxy is refused. */
  readonly anonymous: boolean;
}

/** What says who is calling. The token is null where there is none, or none is asked for. */
export type Carried = { readonly token: null } | { readonly token: string } | { readonly ticket: string };

export type UpgradeJudgement = Carried | { readonly refused: RefusalReason };

/** The part of the verdict that needs no key and no waiting, in the order of the design: headers, Host, Origin, subprotocol, token. What passes is answered 101 unless its caller is refused: a ticket is spent behind it. */
export function judgeUpgrade(facts: UpgradeFacts, rules: UpgradeRules): UpgradeJudgement {
  const { headers, headersDistinct, query } = facts;
  if (!isHandshake(headers)) return { refused: 'websocket' };
  const place = judgePlace(facts, rules);
  if (place !== undefined) return { refused: place };
  const offers = headers['sec-websocket-protocol'];
  const subprotocols = offeredSubprotocols(offers);
  if (!offersEachOnce(offers) || 'refuse' in chooseSubprotocol(subprotocols)) return { refused: 'subprotocol' };
  // All Authorization headers: Node keeps only the first in `headers`.
  const { authorization } = headersDistinct;
  const carriage = carriedToken({ authorization, subprotocols, query });
  if ('problem' in carriage) return { refused: 'token_carriage' };
  return rules.anonymous || 'none' in carriage ? { token: null } : carriage;
}

/** Where a request comes from and whom it asks: of an upgrade and of a request for a ticket alike. Two hosts are none (RFC 9112 section 3.2). */
export function judgePlace({ headers, headersDistinct }: Said, rules: UpgradeRules): RefusalReason | undefined {
  if (rules.anonymous && wasForwarded(headers)) return 'forwarded';
  if (headersDistinct.host?.length !== 1 || !hostAllowed(headers.host, rules.hosts)) return 'host';
  return originAllowed(headers.origin, rules.origins) ? undefined : 'origin';
}

function wasForwarded(headers: IncomingHttpHeaders): boolean {
  return Object.keys(headers).some((name) => name === 'forwarded' || name === 'via' || name.startsWith('x-forwarded-'));
}
