import type { Server, TlsOptions } from 'node:tls';
import type { Cancel, Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Meter } from '../ports/meter.ts';
import { standing, watchFiles } from './file-watch.ts';
import { readTls, type TlsFiles, type TlsMaterial } from './tls-files.ts';

export interface TlsDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly meter: Meter;
}

/** One certificate for every listener, read anew when its files change. */
export interface Tls {
  /** What a server is to be made with; give that server to `serve` in the same turn. */
  options(): TlsOptions;
  /** Gives the server each later certificate too, for the connections that come then; open ones keep theirs. */
  serve(server: Server): void;
  /** Watches no longer. Idempotent. */
  close(): void;
}

/** Rejects with a sentence when the files cannot be used. Nothing is held open before the first `serve`. */
export async function openTls(files: TlsFiles, deps: TlsDeps): Promise<Tls> {
  const paths = [files.certFile, files.keyFile, ...(files.clientCaFile === undefined ? [] : [files.clientCaFile])];
  const since = await standing(paths);
  let material = readTls(files);
  publish(material, deps);
  const servers = new Set<Server>();
  const reload = () => {
    try {
      material = readTls(files);
      for (const server of servers) server.setSecureContext(material.context);
      deps.log.info('tls_reloaded', { notAfter: new Date(material.notAfter).toISOString() });
      publish(material, deps);
    } catch (err) {
      deps.log.error('tls_reload_failed', { err });
    }
  };
  let stop: Cancel | undefined;
  return {
    options: () => ({ ...material.context, ...clientsOf(files) }),
    serve(server) {
      servers.add(server);
      server.once('close', () => servers.delete(server));
      stop ??= watchFiles(paths, since, deps.clock, reload);
    },
    close: () => stop?.(),
  };
}

/** Whether clients are asked for a certificate, and whether one without a good one gets through the handshake. */
function clientsOf({ clientCaFile, clientAuth }: TlsFiles): TlsOptions {
  return { requestCert: clientCaFile !== undefined, rejectUnauthorized: clientAuth === 'required' };
}

function publish({ notBefore, notAfter }: TlsMaterial, { clock, log, meter }: TlsDeps): void {
  meter.gauge('tls_certificate_not_before_seconds', {}).set(notBefore / 1000);
  meter.gauge('tls_certificate_not_after_seconds', {}).set(notAfter / 1000);
  if (notAfter <= clock.now()) log.warn('tls_certificate_expired', { notAfter: new Date(notAfter).toISOString() });
}
