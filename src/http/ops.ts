import type { Log } from '../ports/log.ts';
import { bareServer } from './bare-server.ts';
import { type Address, type ListenOptions, listen } from './listen.ts';

export interface OpsDeps {
  /** `detail` is shown to whoever can reach the listener. */
  readonly readiness: () => { readonly ready: boolean; readonly detail: unknown };
  readonly expose: () => Promise<{ readonly contentType: string; readonly text: string }>;
  readonly log: Log;
}

export interface Ops {
  readonly address: Address;
  close(): Promise<void>;
}

/**
 * The operators' listener: GET /healthz (the event loop turns), /readyz (200 or 503), /metrics, and nothing else. Every
 * answer is a fixed text or what `deps` gave; causes go to the log. Rejects with one sentence when it cannot listen.
 */
export async function startOps(options: ListenOptions, deps: OpsDeps): Promise<Ops> {
  const app = bareServer(1);
  app.setErrorHandler((err, _request, reply) => {
    deps.log.error('ops_request_failed', { err });
    return reply.code(500).send({ error: 'internal' });
  });
  const scrape = shared(deps.expose);
  app.get('/healthz', () => ({ status: 'ok' }));
  app.get('/readyz', (_request, reply) => {
    const { ready, detail } = deps.readiness();
    return reply.code(ready ? 200 : 503).send({ status: ready ? 'ready' : 'not_ready', detail });
  });
  app.get('/metrics', async (_request, reply) => {
    const { contentType, text } = await scrape();
    return reply.type(contentType).send(text);
  });
  const address = await listen(app, options, 'ops');
  return { address, close: () => app.close() };
}

/** Scrapes at the same time are one. */
function shared<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  return () => {
    running ??= work().finally(() => {
      running = undefined;
    });
    return running;
  };
}
