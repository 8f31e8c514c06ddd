import type { Socket } from 'node:net';
import type { Pending } from './pending.ts';
import type { RefusalReason } from './refusals.ts';
import type { Slots } from './slots.ts';

export interface SlotDeps {
  readonly slots: Slots;
  readonly pending: Pending;
  readonly draining: () => boolean;
}

/** Why there is no slot; undefined where one was taken. A promise, which never rejects, only where other replicas have to be asked. */
export type Taken = RefusalReason | undefined | Promise<RefusalReason | undefined>;

/** Takes a slot for a socket, held until it is gone, whatever becomes of it, or until the slot is refused after all. */
export function takeSlot(socket: Socket, principal: string, address: string, deps: SlotDeps): Taken {
  const slot = deps.slots.reserve(principal, address);
  if (typeof slot === 'string') return slot;
  if (socket.destroyed) slot();
  else socket.once('close', slot);
  if (deps.slots.isAlone || socket.destroyed) return undefined;
  if (!deps.pending.isFull) return claimed(principal, slot, deps);
  slot();
  return 'pending';
}

/** Those who wait for an answer are among the pending, so that a slow one keeps no more than these waiting. */
async function claimed(
  principal: string,
  slot: () => void,
  { slots, pending, draining }: SlotDeps,
): Promise<RefusalReason | undefined> {
  pending.enter();
  const fits = await slots.claim(principal);
  pending.leave();
  const refused = draining() ? 'draining' : fits ? undefined : 'connections_per_principal';
  if (refused !== undefined) slot();
  return refused;
}
