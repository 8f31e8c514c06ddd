import { createHash, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import { standing, watchFiles } from './file-watch.ts';

/** What a request may say behind `Bearer` (`token68` of RFC 7235 section 2.1), long enough not to be guessed and short enough for a header. */
const TOKEN = /^(?=.{32,4096}$)[A-Za-z0-9\-._~+/]+=*$/;

export interface AdminTokenDeps {
  readonly clock: Clock;
  readonly log: Log;
}

/** The token that the admin listener asks for, read anew when its file changes. */
export interface AdminToken {
  /** Takes as long for a wrong token as for the right one. */
  matches(presented: string): boolean;
  /** Watches no longer. Idempotent. */
  close(): void;
}

/** The token in a file, without the white space around it. Throws a sentence that names the file and nothing of what it holds. */
export function readAdminToken(path: string): string {
  const token = textOf(path).trim();
  if (TOKEN.test(token)) return token;
  throw new Error(
    `the token in ${path} must be 32 to 4096 of A-Z, a-z, 0-9 and -._~+/, maybe with = behind them (admin.tokenFile)`,
  );
}

/** Rejects with a sentence when the file holds no token. A later file that holds none changes nothing but the log. */
export async function openAdminToken(path: string, { clock, log }: AdminTokenDeps): Promise<AdminToken> {
  const since = await standing([path]);
  let expected = digest(readAdminToken(path));
  const reload = () => {
    try {
      expected = digest(readAdminToken(path));
      log.info('admin_token_reloaded');
    } catch (err) {
      log.error('admin_token_reload_failed', { err });
    }
  };
  return {
    matches: (presented) => timingSafeEqual(digest(presented), expected),
    close: watchFiles([path], since, clock, reload),
  };
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown cause';
    throw new Error(`the token file ${path} cannot be read: ${code} (admin.tokenFile)`, { cause });
  }
}

/** Of one length, whatever the text is. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
