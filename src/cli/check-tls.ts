import type { Config } from '../config/schema.ts';
import { readTls } from '../http/tls-files.ts';
import type { Clock } from '../ports/clock.ts';

/** A sentence about the files of `listen.tls` where they cannot be used, or hold a certificate that nobody accepts any more. */
export function tlsProblems({ listen: { tls } }: Config, clock: Clock): string[] {
  if (tls === null) return [];
  try {
    const { notAfter } = readTls(tls);
    return notAfter > clock.now() ? [] : [`listen.tls.certFile has expired (${new Date(notAfter).toISOString()})`];
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}
