import { addressKey } from '../policy/address.ts';
import type { Leases } from '../ports/leases.ts';
import type { RefusalReason } from './refusals.ts';

export interface SlotLimits {
  readonly connections: number;
  readonly connectionsPerPrincipal: number;
  /** Null for no limit. */
  readonly connectionsPerAddress: number | null;
}

/** Counts open connections, in all, per address and per principal; a slot is held from before 101 until the TCP socket is gone. */
export class Slots {
  private readonly limits: SlotLimits;
  private readonly leases: Leases | undefined;
  private readonly byPrincipal = new Counts();
  private readonly byAddress = new Counts();
  private total = 0;

  /** `leases`: what other replicas have; absent where there are none. */
  constructor(limits: SlotLimits, leases?: Leases) {
    this.limits = limits;
    this.leases = leases;
  }

  /** Takes a slot; the returned function gives it back, once however often it is called. An empty address is nobody's. */
  reserve(principal: string, address: string): (() => void) | RefusalReason {
    const full = this.fullFor(address);
    if (full !== undefined) return full;
    if (this.byPrincipal.of(principal) >= this.limits.connectionsPerPrincipal) return 'connections_per_principal';
    const place = addressKey(address);
    this.add(1, principal, place);
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.add(-1, principal, place);
      this.leases?.settle(principal, this.byPrincipal.of(principal));
    };
  }

  /** Whether there is no other replica, so that nobody needs to be asked. */
  get isAlone(): boolean {
    return this.leases === undefined;
  }

  /** Whether what the principal has here now fits beside what it has at other replicas. Never rejects. */
  async claim(principal: string): Promise<boolean> {
    return this.leases?.claim(principal, this.byPrincipal.of(principal)) ?? true;
  }

  /** Why there is no slot for anybody at this address. */
  fullFor(address: string): RefusalReason | undefined {
    const { connections, connectionsPerAddress } = this.limits;
    if (this.total >= connections) return 'connections';
    if (connectionsPerAddress === null || address === '') return undefined;
    return this.byAddress.of(addressKey(address)) >= connectionsPerAddress ? 'connections_per_address' : undefined;
  }

  private add(by: 1 | -1, principal: string, place: string): void {
    this.total += by;
    this.byPrincipal.add(principal, by);
    this.byAddress.add(place, by);
  }
}

/** How many there are of each; what there is none of is not kept. */
class Counts {
  private readonly counts = new Map<string, number>();

  of(key: string): number {
    return this.counts.get(key) ?? 0;
  }

  add(key: string, by: number): void {
    const count = this.of(key) + by;
    if (count === 0) this.counts.delete(key);
    else this.counts.set(key, count);
  }
}
