import { Gate } from '../http/gate.ts';
import { HandshakeRates } from '../http/handshake-rates.ts';
import { Pending } from '../http/pending.ts';
import { Slots } from '../http/slots.ts';
import { blocksOf } from '../policy/address.ts';
import type { Leases } from '../ports/leases.ts';
import type { AuditSink } from '../ports/sink.ts';
import type { Shared } from './shared.ts';

export interface DoorParts {
  readonly audit: AuditSink;
  /** Of connections, over all replicas; absent where this gateway is the only one. */
  readonly leases: Leases | undefined;
  readonly draining: () => boolean;
  readonly overloaded: () => boolean;
}

/** What both listeners ask of those who come, counted over both. */
export function openDoor({ config, clock }: Shared, { audit, leases, draining, overloaded }: DoorParts) {
  const { limits, listen } = config;
  const rates = new HandshakeRates(limits.handshakes, clock);
  return {
    audit,
    slots: new Slots(limits, leases),
    pending: new Pending(limits.handshakes.pending),
    draining,
    gate: new Gate({ rates, trustedProxies: blocksOf(listen.trustedProxies), draining, overloaded }),
    close: () => rates.close(),
  };
}
