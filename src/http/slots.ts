import type { RefusalReason } from './refusals.ts';

export interface SlotLimits {
  readonly connections: number;
  readonly connectionsPerPrincipal: number;
}

/** Counts open connections, in all and per principal; a slot is held from before 101 until the TCP socket is gone. */
export class Slots {
  private readonly limits: SlotLimits;
  private readonly byPrincipal = new Map<string, number>();
  private total = 0;

  constructor(limits: SlotLimits) {
    this.limits = limits;
  }

  /** Takes a slot; the returned function gives it back, once however often it is called. */
  reserve(principal: string): (() => void) | RefusalReason {
    const own = this.byPrincipal.get(principal) ?? 0;
    if (this.total >= this.limits.connections) return 'connections';
    if (own >= this.limits.connectionsPerPrincipal) return 'connections_per_principal';
    this.total += 1;
    this.byPrincipal.set(principal, own + 1);
    let held = true;
    return () => {
      if (held) this.release(principal);
      held = false;
    };
  }

  private release(principal: string): void {
    const own = this.byPrincipal.get(principal) ?? 0;
    this.total -= 1;
    if (own <= 1) this.byPrincipal.delete(principal);
    else this.byPrincipal.set(principal, own - 1);
  }
}
