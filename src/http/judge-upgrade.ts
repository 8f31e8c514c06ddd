import type { IncomingHttpHeaders } from 'node:http';
import { type CarriageProblem, carriedToken } from '../auth/carriage.ts';
import { hostAllowed, originAllowed } from '../policy/origin.ts';
import { chooseSubprotocol, offeredSubprotocols } from '../protocol/subprotocol.ts';
import type { RefusalReason } from './refusals.ts';

/** What an upgrade says before anything is verified. */
export interface UpgradeFacts {
  readonly headers: IncomingHttpHeaders;
  /** All Authorization headers: Node keeps only the first in `headers`. */
  readonly authorization: readonly string[] | undefined;
  readonly query: string;
}

export interface UpgradeRules {
  readonly hosts: readonly string[];
  readonly origins: readonly string[];
  /** In anonymous mode a token is not asked for, and an upgrade that came through a proxy is refused. */
  readonly anonymous: boolean;
}

export type UpgradeJudgement =
  /** Null where there is none, or none is asked for. */
  { readonly token: string | null } | { readonly refused: RefusalReason; readonly text?: CarriageProblem };

/** The part of the verdict that needs no key and no waiting, in the order of the design: headers, Host, Origin, subprotocol, token. */
export function judgeUpgrade({ headers, authorization, query }: UpgradeFacts, rules: UpgradeRules): UpgradeJudgement {
  if (rules.anonymous && wasForwarded(headers)) return { refused: 'forwarded' };
  if (!hostAllowed(headers.host, rules.hosts)) return { refused: 'host' };
  if (!originAllowed(headers.origin, rules.origins)) return { refused: 'origin' };
  const subprotocols = offeredSubprotocols(headers['sec-websocket-protocol']);
  if ('refuse' in chooseSubprotocol(subprotocols)) return { refused: 'subprotocol' };
  const carriage = carriedToken({ authorization, subprotocols, query });
  if ('problem' in carriage) return { refused: 'token_carriage', text: carriage.problem };
  return { token: rules.anonymous || 'none' in carriage ? null : carriage.token };
}

function wasForwarded(headers: IncomingHttpHeaders): boolean {
  return Object.keys(headers).some((name) => name === 'forwarded' || name === 'via' || name.startsWith('x-forwarded-'));
}
