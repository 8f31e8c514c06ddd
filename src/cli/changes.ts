import { isIP } from 'node:net';
import type { Config } from '../config/schema.ts';
import { type AskedChange, askedChange } from '../http/admin-change.ts';
import { readAdminToken } from '../http/admin-token.ts';
import { fail, readConfiguration } from './configuration.ts';
import { post } from './post.ts';
import { httpUrl } from './socket-url.ts';

export interface ChangesOptions {
  readonly config: string;
  readonly kind?: string;
  readonly upstream?: string;
  readonly uri?: string;
  readonly url?: string;
}

/** What a running gateway is told, and where. */
interface Message {
  readonly change: AskedChange;
  readonly origin: string;
  readonly token: string;
}

/** `changes`: tells a running gateway, and by it every replica, that something has changed. Says how many changes were published. */
export async function changes(options: ChangesOptions): Promise<void> {
  const loaded = readConfiguration(options.config, process.env);
  if (!loaded.ok) return fail(loaded.problems);
  const message = messageOf(loaded.config, options);
  if (typeof message === 'string') return fail([message]);
  const told = await tell(message);
  if (typeof told === 'string') return fail([told]);
  process.stdout.write(`published ${told}\n`);
}

/** Or the sentence that says why there is none. */
function messageOf({ admin }: Config, { kind, upstream, uri, url }: ChangesOptions): Message | string {
  if (admin === null) return 'admin is not configured: there is no listener that takes changes';
  const change = askedChange({
    kind,
    ...(upstream === undefined ? {} : { upstream }),
    ...(uri === undefined ? {} : { uri }),
  });
  if ('problem' in change) return `--${change.problem}`;
  const origin = url === undefined ? originOf(admin) : givenOrigin(url);
  if (origin === undefined) return '--url must be http or https, a host and a port, and nothing else';
  if (origin === null) return 'admin.port is 0: say with --url where the gateway listens';
  try {
    return { change, origin, token: readAdminToken(admin.tokenFile) };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** A gateway that listens on every address is on loopback too. */
function originOf({ host, port }: { readonly host: string; readonly port: number }): string | null {
  if (port === 0) return null;
  const bare = host.replace(/^\[(.*)\]$/, '$1');
  if (bare === '0.0.0.0') return httpUrl({ host: '127.0.0.1', port });
  return httpUrl({ host: isIP(bare) === 6 && /^[0:]+$/.test(bare) ? '::1' : host, port });
}

function givenOrigin(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) return undefined;
  return `${url.origin}/` === url.href ? url.origin : undefined;
}

/** How many were published, or the sentence that says why none was. */
async function tell({ change, origin, token }: Message): Promise<number | string> {
  const answer = await post(`${origin}/changes`, JSON.stringify(change), { authorization: `Bearer ${token}` });
  if ('failure' in answer) return `the admin listener at ${origin} ${answer.failure}`;
  const { status, body } = answer;
  if (status === 202 && typeof body.published === 'number') return body.published;
  if (status === 401) return `the admin listener at ${origin} refused the token of admin.tokenFile`;
  if (body.error === 'unknown_upstream') return `the gateway at ${origin} has no upstream ${String(change.upstream)}`;
  const why = typeof body.error === 'string' && /^[a-z_]{1,40}$/.test(body.error) ? ` (${body.error})` : '';
  return `the admin listener at ${origin} answered ${status}${why}`;
}
