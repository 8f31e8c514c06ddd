import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { type Identity, type Principal, principalKey, principalOf } from '../auth/principal.ts';
import type { Log } from '../ports/log.ts';
import type { Meter } from '../ports/meter.ts';
import { acceptTcp, type BindTcp, type TcpLimits } from '../transport/tcp.ts';
import { anonymous } from './anonymous.ts';
import { type Arrival, type AuthAuditDeps, auditAllowed, auditDenied, logRefusal } from './audit-auth.ts';
import type { Certify } from './authenticate.ts';
import { type Gate, peerAddress } from './gate.ts';
import type { Pending } from './pending.ts';
import type { RefusalReason } from './refusals.ts';
import type { Slots } from './slots.ts';
import { takeSlot } from './take-slot.ts';

export interface WelcomeOptions extends TcpLimits {
  readonly anonymousRoles: readonly string[];
  /** Who a caller is by its certificate; absent in anonymous mode. */
  readonly certify: Certify | undefined;
}

export interface WelcomeDeps extends AuthAuditDeps {
  readonly gate: Gate;
  readonly slots: Slots;
  readonly pending: Pending;
  readonly log: Log;
  readonly meter: Meter;
  readonly draining: () => boolean;
  /** More waits for a client than is worth no thought. */
  readonly growing: () => void;
  /** Gives a connection that began with a request its session, synchronously. */
  readonly accept: (session: string, principal: Principal, bind: BindTcp) => void;
}

/** Judges one connection to the TCP listener. A slot is held until the socket is gone, whatever becomes of it. */
export function welcome(socket: Socket, options: WelcomeOptions, deps: WelcomeDeps): void {
  const arrival: Arrival = { request: randomUUID(), address: peerAddress(socket), via: 'tcp' };
  socket.on('error', () => {});
  const early = deps.gate.judge(socket, arrival.address);
  if (early !== undefined) return refuse(socket, arrival, early.refused, deps);
  const identified = identify(arrival.request, socket, options);
  if ('refused' in identified) return refuse(socket, arrival, identified.refused, deps);
  const { identity } = identified;
  const refused = (reason: string) => refuse(socket, arrival, reason, deps, identity);
  const principal = principalOf(identity, arrival);
  const listen = (full: RefusalReason | undefined) => {
    if (full !== undefined) return refused(full);
    acceptTcp(socket, options, deps, {
      opened: (bind) => {
        if (deps.draining()) return refused('draining');
        auditAllowed(arrival.request, principal, deps);
        deps.accept(arrival.request, principal, bind);
      },
      refused,
    });
  };
  const taken = takeSlot(socket, principalKey(identity), arrival.address, deps);
  // A peer that has gone meanwhile is not listened to.
  if (taken instanceof Promise) void taken.then((full) => (socket.destroyed ? undefined : listen(full)));
  else listen(taken);
}

function identify(
  session: string,
  socket: Socket,
  { anonymousRoles, certify }: WelcomeOptions,
): { readonly identity: Identity } | { readonly refused: string } {
  return certify === undefined ? { identity: anonymous(session, anonymousRoles) } : certify(socket, session);
}

function refuse(socket: Socket, arrival: Arrival, reason: string, deps: WelcomeDeps, identity?: Identity): void {
  deps.meter.counter('connections_refused_total', { reason }).add();
  auditDenied(arrival, reason, identity, deps);
  socket.destroy();
  const fields = { request: arrival.request, reason };
  logRefusal('tcp_refused', fields, deps.log);
}
