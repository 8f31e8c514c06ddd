import type { Principal } from '../auth/principal.ts';
import type { Cancel } from '../ports/clock.ts';
import type { Connection, FrameKind, FrameReceiver } from '../ports/connection.ts';
import { BATCH_VERSION, readFrame } from '../protocol/batch.ts';
import { errorText } from '../protocol/compose.ts';
import { idField, type Notification } from '../protocol/envelope.ts';
import { UNREADABLE } from '../protocol/errors.ts';
import { Authority } from './authority.ts';
import { Batches } from './batch.ts';
import { Calls } from './calls.ts';
import { Client } from './client.ts';
import type { Gateway } from './context.ts';
import { Ending } from './ending.ts';
import { InFlight } from './in-flight.ts';
import { startLife } from './life.ts';
import { Opening, type Read } from './opening.ts';
import { Planes } from './planes.ts';
import { Requests } from './requests.ts';

/** One connection's MCP state: its parts from the first frame to the last, and which of them a frame is for. Everything it opens ends in `closed`. */
export class Session implements FrameReceiver {
  readonly client: Client;
  private readonly gateway: Gateway;
  private readonly authority: Authority;
  private readonly connection: Batches;
  private readonly inFlight: InFlight;
  private readonly ending: Ending;
  private readonly planes: Planes;
  private readonly calls: Calls;
  private readonly requests: Requests;
  private readonly opening: Opening;
  private readonly stopLife: Cancel;
  private readonly ended: () => void;
  private isClosed = false;

  constructor(id: string, principal: Principal, connection: Connection, gateway: Gateway, ended: () => void) {
    this.gateway = gateway;
    this.ended = ended;
    this.authority = new Authority(id, principal, (of) => gateway.grants(of));
    this.connection = new Batches(connection, gateway.limits, {
      accepts: () => this.planes.protocolVersion === BATCH_VERSION,
      take: (read) => this.take(read),
    });
    this.inFlight = new InFlight(gateway.limits.inFlight);
    const { authority, inFlight } = this;
    this.opening = new Opening({ session: id, connection, gateway, inFlight, take: (read) => this.take(read) });
    this.ending = new Ending(this.connection, inFlight);
    const send = (frame: string, kind: FrameKind) => this.send(frame, kind);
    this.client = new Client({ gateway, authority, send });
    this.planes = new Planes({
      client: this.client,
      answered: (asked, frame, accepted) => this.requests.answered(asked, frame, accepted),
      log: gateway.log,
    });
    this.calls = new Calls({
      gateway,
      authority,
      client: this.client,
      send,
      add: (answered, call) => inFlight.add(answered, call),
      take: (answered) => inFlight.take(answered),
      idle: () => this.ending.whenIdle(),
    });
    const { client, planes, calls, opening, ending } = this;
    this.requests = new Requests({ authority, gateway, client, planes, calls, opening, inFlight, ending, send });
    this.stopLife = startLife(gateway.clock, gateway.limits, principal.expiresAt, {
      unopened: () => ending.overdue(opening.phase === 'new' && !planes.hadModern),
      expired: () => ending.expire(),
      graceOver: () => ending.graceOver(),
    });
  }

  get session(): string {
    return this.authority.session;
  }

  frame(text: string): void {
    const readAt = this.gateway.clock.elapsed();
    const message = readFrame(text, this.gateway.limits.depth);
    this.take({ message, readAt });
  }

  closed(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.opening.close();
    this.stopLife();
    try {
      this.inFlight.cancelAll();
      this.calls.close();
      this.planes.close();
      this.client.close();
    } finally {
      this.ended();
    }
  }

  /** Takes no new requests and closes as soon as nothing is in flight. */
  drain(): void {
    if (this.planes.hasModern) void this.planes.leaveModern().then(() => this.ending.drain());
    else this.ending.drain();
  }

  /** Ends what is still in flight, then the socket. */
  drainOver(): void {
    this.ending.drainOver();
  }

  private take(read: Read): void {
    const { message, readAt } = read;
    if (this.isClosed || this.opening.holds(read)) return;
    if (message.kind === 'request') this.requests.take(message, readAt);
    else if (message.kind === 'notification') this.notification(message);
    else if (message.kind === 'array') this.connection.take(message, readAt);
    else if (message.kind === 'unreadable') this.send(errorText(null, UNREADABLE[message.problem]), 'answer');
    else this.client.answered(message);
  }

  private notification(notification: Notification): void {
    if (notification.method === 'notifications/cancelled') {
      const id = idField(notification.text, notification.params, 'requestId');
      if (id === undefined || this.planes.unlisten(id)) return;
      this.connection.cancelled(id);
      if (this.inFlight.cancel(id, notification)) this.ending.whenIdle();
    } else if (notification.method === 'notifications/initialized' && this.opening.phase === 'ready') {
      if (this.client.initialized()) this.planes.initialized();
    } else this.client.said(notification);
  }

  private send(frame: string, kind: FrameKind): void {
    if (!this.isClosed) this.connection.send(frame, kind);
  }
}
