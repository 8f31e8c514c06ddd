import { signDevelopmentToken } from '../auth/development-token.ts';
import type { Config, IssuerConfig } from '../config/schema.ts';
import { parseDuration } from '../config/units.ts';
import { fail, readConfiguration } from './configuration.ts';

export interface TokenOptions {
  readonly config: string;
  readonly issuer?: string;
  readonly id: string;
  readonly role?: readonly string[];
  readonly scope?: readonly string[];
  readonly expiresIn: string;
}

interface Wanted {
  readonly issuer: IssuerConfig;
  readonly secret: string;
  readonly resource: string;
  readonly lifeSeconds: number;
}

/**
 * `token`: a development token of an issuer whose secret is in the configuration. The token alone goes to standard
 * output, so that `$(…)` takes it; how to connect with it goes to standard error.
 */
export async function token(options: TokenOptions): Promise<void> {
  const loaded = readConfiguration(options.config, process.env);
  if (!loaded.ok) return fail(loaded.problems);
  const { config } = loaded;
  const wanted = wantedOf(config, options);
  if (typeof wanted === 'string') return fail([wanted]);
  const { issuer, secret, lifeSeconds } = wanted;
  const { id, role: roles = [], scope = [] } = options;
  const scopes = [...new Set([...config.auth.requiredScopes, ...scope])];
  const { audience, claims, require } = issuer;
  const signed = await signDevelopmentToken({
    ...{ issuer: issuer.issuer, audience, secret, claims, require },
    ...{ id, roles, scopes, lifeSeconds },
  });
  process.stdout.write(`${signed}\n`);
  for (const line of [...idleRoles(issuer, roles), ...howToConnect(wanted.resource, options)]) {
    process.stderr.write(`${line}\n`);
  }
}

/** Or the sentence that says why there is no such token. */
function wantedOf({ auth }: Config, options: TokenOptions): Wanted | string {
  if (auth.mode !== 'jwt') return 'auth.mode is anonymous: there are no tokens, connect without one';
  if (options.id === '') return '--id must not be empty: nobody is called nothing';
  const life = parseDuration(options.expiresIn);
  if (life === undefined || life < 1000) return '--expires-in must be a duration of at least 1s, such as 30m or 1h';
  if (life > auth.maxTokenLife)
    return '--expires-in must be at most auth.maxTokenLife, or the gateway refuses the token';
  const withSecret = auth.issuers.flatMap((issuer) =>
    issuer.keys.source === 'secret' ? [{ issuer, secret: issuer.keys.secret }] : [],
  );
  const named = withSecret.filter(({ issuer }) => options.issuer === undefined || options.issuer === issuer.issuer);
  const [first, ...others] = named;
  if (first !== undefined && others.length === 0) {
    return { ...first, resource: auth.resource, lifeSeconds: Math.floor(life / 1000) };
  }
  if (withSecret.length === 0) return 'no issuer in auth.issuers has a secret: only its own server can sign its tokens';
  const known = withSecret.map(({ issuer }) => issuer.issuer).join(', ');
  return options.issuer === undefined
    ? `several issuers have a secret: choose one with --issuer (${known})`
    : `--issuer is none of the issuers with a secret (${known})`;
}

/** Roles are given as the issuer names them; what the configuration makes of them may be nothing. */
function idleRoles({ roles }: IssuerConfig, given: readonly string[]): string[] {
  const { map, allowed } = roles;
  if (allowed === null) return [];
  const dropped = given.filter((role) => !allowed.includes(Object.hasOwn(map, role) ? (map[role] ?? role) : role));
  return dropped.map(
    (role) => `warning: the gateway drops the role ${role}: roles.allowed of this issuer does not name it`,
  );
}

/** At the resource the token is for (RFC 9728): behind a balancer that is not where the gateway listens. */
function howToConnect(resource: string, { id, role = [], expiresIn }: TokenOptions): string[] {
  const url = resource.replace(/^http/, 'ws');
  const roles = role.length === 0 ? 'without roles' : `with the roles ${role.join(', ')}`;
  return [
    `For ${id} ${roles}, good for ${expiresIn}. Connect to ${url} with one of`,
    '  Authorization: Bearer <token>',
    '  Sec-WebSocket-Protocol: mcp, mcp.auth.<token>     (in a browser: new WebSocket(url, ["mcp", "mcp.auth." + token]))',
  ];
}
