/** A link that can be closed for another one. */
export interface Spare {
  readonly principal: string;
  /** Parked: the call it serves waits for its client. */
  readonly kind: 'leased' | 'own' | 'parked';
  /** Since when it has served nothing, or its call has waited, in monotonic milliseconds. */
  readonly since: number;
  /** Its place leaves within this turn. */
  readonly end: () => void;
}

/** Who needs a place. */
export interface Need {
  readonly principal: string;
  readonly now: number;
  /** Places a principal holds or was promised, less those it is leaving. */
  readonly held: (principal: string) => number;
}

/** From here on a call that waits for its client may have to make room for anybody's. Milliseconds. */
export const GIVEN_UP_MS = 60_000;

const RANK = { leased: 0, own: 1, parked: 2 } as const;

/**
 * Whose link makes room where principals share the places: one that serves nothing before one whose call waits for its
 * client, then of the principal that holds most, then one that served single calls, then the one idle for longest.
 */
export function spareInShares(spares: Iterable<Spare>, need: Need): Spare | undefined {
  return first(spares, need, (a, b) => need.held(b.principal) - need.held(a.principal) || RANK[a.kind] - RANK[b.kind]);
}

/** The one idle for longest, whatever it was for. */
export function idlest(spares: Iterable<Spare>, need: Need): Spare | undefined {
  return first(spares, need, () => 0);
}

type Order = (a: Spare, b: Spare) => number;

function first(spares: Iterable<Spare>, need: Need, order: Order): Spare | undefined {
  const able = [...spares].filter((spare) => mayGo(spare, need));
  const waits = ({ kind }: Spare) => Number(kind === 'parked');
  return able.sort((a, b) => waits(a) - waits(b) || order(a, b) || a.since - b.since)[0];
}

/** A parked call goes for another principal's only where that evens out what the two hold: else each could end the other's in turn. */
function mayGo({ kind, principal, since }: Spare, need: Need): boolean {
  if (kind !== 'parked' || need.now - since >= GIVEN_UP_MS) return true;
  return principal !== need.principal && need.held(principal) > need.held(need.principal) + 1;
}
