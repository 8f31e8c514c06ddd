import type { Principal } from '../auth/principal.ts';
import type { Cancel } from '../ports/clock.ts';
import type { Connection, FrameKind, FrameReceiver } from '../ports/connection.ts';
import type { Link } from '../ports/link.ts';
import { BATCH_VERSION, readFrame } from '../protocol/batch.ts';
import { idField, type Notification, type Response } from '../protocol/envelope.ts';
import { startAge } from './age.ts';
import { Authority } from './authority.ts';
import { Batches } from './batch.ts';
import { Calls } from './calls.ts';
import { Client } from './client.ts';
import type { Gateway } from './context.ts';
import { Ending } from './ending.ts';
import { InFlight } from './in-flight.ts';
import { Intake } from './intake.ts';
import { Life } from './life.ts';
import { Opening, type Read } from './opening.ts';
import { Planes } from './planes.ts';
import { Refresh } from './refresh.ts';
import { Requests } from './requests.ts';
import { Toll } from './toll.ts';

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
  private readonly toll: Toll;
  private readonly life: Life;
  private readonly stopAge: Cancel;
  private readonly ended: () => void;
  private readonly intake: Intake;
  private isClosed = false;

  constructor(id: string, principal: Principal, connection: Connection, gateway: Gateway, ended: () => void) {
    this.gateway = gateway;
    this.ended = ended;
    this.authority = new Authority(id, principal, gateway);
    this.connection = new Batches(connection, gateway.limits, {
      accepts: () => this.planes.protocolVersion === BATCH_VERSION,
      take: (read) => this.take(read),
      isUnderWay: (id) => this.inFlight.has(id),
    });
    this.toll = new Toll(principal, { ...gateway, connection: this.connection });
    this.inFlight = new InFlight(gateway.limits.inFlight);
    const { authority, inFlight } = this;
    this.opening = new Opening({ session: id, connection, gateway, inFlight, take: (read) => this.take(read) });
    this.ending = new Ending(this.connection, inFlight, {
      endListens: () => this.planes.leaveModern(),
      random: gateway.random,
    });
    this.intake = new Intake({ connection, clock: gateway.clock });
    const send = (frame: string, kind: FrameKind, from?: 'shared') => this.send(frame, kind, from);
    const wrote = (link: Link) => this.intake.wrote(link);
    this.client = new Client({ gateway, authority, send, wrote });
    this.planes = new Planes({
      client: this.client,
      answered: (asked, frame, accepted) => this.requests.answered(asked, frame, accepted),
      log: gateway.log.child({ session: id }),
    });
    this.calls = new Calls({
      gateway,
      authority,
      client: this.client,
      send,
      wrote,
      hold: (bytes) => connection.hold(bytes),
      add: (answered, call, turn) => inFlight.add(answered, call, turn),
      take: (answered) => inFlight.take(answered),
      idle: () => this.ending.whenIdle(),
    });
    const { client, planes, calls, opening, ending, toll } = this;
    this.life = new Life(gateway.clock, gateway.limits, principal.expiresAt, {
      unopened: () => ending.overdue(opening.phase === 'new' && !planes.hadModern),
      expiring: () => client.notice.expiring(),
      expired: () => ending.expire(),
      graceOver: () => ending.graceOver(),
    });
    const parts = { authority, gateway, client, planes, calls, opening, inFlight, ending, life: this.life, send };
    const refresh = new Refresh({ ...parts, failed: (err) => this.failed(err) });
    this.requests = new Requests({ ...parts, toll, refresh });
    this.stopAge = startAge(gateway.clock, gateway.limits, gateway.random, {
      aged: () => this.drain(),
      over: () => this.drainOver(),
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

  /** What an upstream says to this client alone waits in the upstream's own pipe while the client does not read. */
  crowded(isCrowded: boolean): void {
    if (this.isClosed) return;
    if (isCrowded) this.gateway.links.pause(this.session);
    else this.gateway.links.resume(this.session);
  }

  closed(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.opening.close();
    this.intake.close();
    this.life.stop();
    this.stopAge();
    this.toll.close();
    try {
      this.inFlight.cancelAll();
      this.calls.close();
      this.planes.close();
      this.client.close();
    } finally {
      this.ended();
    }
  }

  /** Whether a request of the client has no answer yet. */
  get isBusy(): boolean {
    return this.inFlight.size > 0;
  }

  /** Takes no new requests and closes as soon as nothing is in flight. */
  drain(): void {
    this.ending.drain();
  }

  /** Ends what is still in flight, then the socket. */
  drainOver(): void {
    this.ending.drainOver();
  }

  private failed(err: unknown): void {
    this.gateway.log.error('session_failed', { session: this.session, err });
    this.connection.close('internal');
  }

  private take(read: Read): void {
    const { message, readAt } = read;
    if (this.isClosed || this.opening.holds(read)) return;
    if (message.kind === 'request') this.requests.take(message, readAt);
    else if (message.kind === 'notification') this.notification(message, readAt);
    else if (message.kind === 'array') this.connection.take(message, readAt);
    else if (message.kind === 'unreadable') this.toll.malformed(message.problem, readAt);
    else this.answered(message, readAt);
  }

  private answered(response: Response, readAt: number): void {
    this.toll.response(readAt);
    this.client.answered(response);
  }

  private notification(notification: Notification, readAt: number): void {
    if (!this.toll.notification(notification, readAt)) return;
    if (notification.method === 'notifications/cancelled') {
      const id = idField(notification.text, notification.params, 'requestId');
      if (id === undefined || this.planes.unlisten(id)) return;
      this.connection.cancelled(id);
      if (this.inFlight.cancel(id, notification)) this.ending.whenIdle();
    } else if (notification.method === 'notifications/initialized' && this.opening.phase === 'ready') {
      if (this.client.initialized()) this.planes.initialized();
    } else this.client.said(notification);
  }

  private send(frame: string, kind: FrameKind, from?: 'shared'): void {
    if (!this.isClosed) this.connection.send(frame, kind, from);
  }
}
