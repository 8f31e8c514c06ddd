import type { FastifyRequest } from 'fastify';
import { Bucket } from '../policy/bucket.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Meter } from '../ports/meter.ts';
import type { AuditSink } from '../ports/sink.ts';
import type { AskedChange } from './admin-change.ts';
import type { AdminRefusal } from './admin-refusals.ts';
import { peerAddress } from './gate.ts';

export interface AdminAccountDeps {
  readonly audit: AuditSink;
  readonly clock: Clock;
  readonly log: Log;
  readonly meter: Meter;
}

type Asking = Pick<FastifyRequest, 'id' | 'raw'>;

/** Refusals that are written down: whoever floods the listener fills neither the audit nor the log. */
const WRITTEN = { rate: 10, burst: 50 };

/** What became of each request to the admin listener, for metrics, log and audit. The log is told no URI: one may carry a secret. */
export class AdminAccount {
  readonly #deps: AdminAccountDeps;
  readonly #written = new Bucket(WRITTEN);

  constructor(deps: AdminAccountDeps) {
    this.#deps = deps;
  }

  published(asking: Asking, { kind, upstream, uri }: AskedChange, published: number): void {
    const { audit, clock, log, meter } = this.#deps;
    meter.counter('admin_requests_total', { outcome: 'published' }).add();
    const who = { request: asking.id, address: peerAddress(asking.raw.socket) };
    const what = { kind, ...(upstream === undefined ? {} : { upstream }) };
    const target = uri === undefined ? {} : { target: uri };
    log.info('change_published', { ...who, ...what, published });
    audit.record({ time: clock.now(), event: 'change', ...who, decision: 'allow', ...what, ...target, published });
  }

  refused(asking: Asking, reason: AdminRefusal): void {
    const { audit, clock, log, meter } = this.#deps;
    meter.counter('admin_requests_total', { outcome: reason }).add();
    const who = { request: asking.id, address: peerAddress(asking.raw.socket) };
    if (this.#written.take(1, clock.elapsed()) > 0) return log.debug('change_refused', { ...who, reason });
    log.info('change_refused', { ...who, reason });
    audit.record({ time: clock.now(), event: 'change', ...who, decision: 'deny', reason });
  }
}
