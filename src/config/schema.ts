import { z } from 'zod';
import { isCidr } from '../policy/address.ts';
import type { PolicySource } from '../policy/rule.ts';
import { REDIS_ADDRESS, readRedisAddress } from './redis-address.ts';
import { authSchema } from './schema-auth.ts';
import { count, type Immutable, list, matching, oneOf, says, text } from './schema-kinds.ts';
import { limitsSchema, timingSchema } from './schema-limits.ts';
import { parseUrl } from './schema-loopback.ts';
import { policySchema } from './schema-policy.ts';
import { serversSchema } from './schema-server.ts';

const host = matching('a host name or address without port', /^(?:\[[0-9A-Fa-f:.]+\]|[^\s/@?#[\]]+)$/);
const port = count(0, 65535);
const path = text('the path of a file');

const cidr = text('a block of addresses such as 10.0.0.0/8 or 2001:db8::/32; one address is 10.0.0.1/32', isCidr);

const tls = z.strictObject({
  certFile: says(path, 'Certificate chain, PEM.'),
  keyFile: says(path, 'Private key, PEM.'),
  clientCaFile: says(path.exactOptional(), 'Authorities of client certificates, PEM. Only these count.', 'none'),
  clientAuth: says(
    oneOf('optional', 'required').exactOptional(),
    'Whether every client must have a certificate of these; required beside clientCaFile.',
    'none',
  ),
  minVersion: says(oneOf('TLSv1.2', 'TLSv1.3').prefault('TLSv1.2'), 'Oldest protocol version.'),
});

const tcp = z.strictObject({
  host: says(host.exactOptional(), 'Address of the TCP listener; in anonymous mode a loopback one.', '127.0.0.1'),
  port: says(port.exactOptional(), 'Its port; 0 takes any free one.', 'none'),
  socket: says(path.exactOptional(), 'Path of a Unix socket, in place of host and port.', 'none'),
});

const listen = z.strictObject({
  host: says(host.prefault('127.0.0.1'), 'Address the gateway listens on.'),
  port: says(port.prefault(8080), 'Its port; 0 takes any free one.'),
  path: says(
    matching('a path that begins with / and has no query', /^\/[^\s?#]*$/).prefault('/mcp'),
    'Path of the WebSocket.',
  ),
  tls: says(tls.nullable().prefault(null), 'TLS of the listeners; its files are read anew when they change.'),
  tcp: says(
    tcp.nullable().prefault(null),
    'Listener for newline-delimited messages; a connection must begin with a request. It speaks TLS where `listen.tls` is set, but on a Unix socket. In jwt mode every client needs a certificate that `auth.certificates` names.',
  ),
  trustedProxies: says(
    list('CIDRs', cidr).prefault([]),
    "Proxies whose X-Forwarded-For is believed: its rightmost address outside this list is the caller's. Jwt mode alone: in anonymous mode an upgrade that came through a proxy is refused.",
  ),
});

const ops = z.strictObject({
  host: says(host.prefault('127.0.0.1'), 'Address of /healthz, /readyz and /metrics.'),
  port: says(port.prefault(9464), 'Their port; 0 takes any free one.'),
});

const admin = z.strictObject({
  host: says(host.prefault('127.0.0.1'), 'Address of the admin listener.'),
  port: says(port, 'Its port; 0 takes any free one.'),
  tokenFile: says(path, 'File with the token it asks for, 32 characters at least; read anew when it changes.'),
});

/** RFC 6454 section 6.2: exactly as a browser sends it. */
const origin = text(
  'an origin as a browser sends it, such as https://app.example.com',
  (value) => parseUrl(value)?.origin === value && value !== 'null',
);

const secret = text('text of at least 32 bytes', (value) => new TextEncoder().encode(value).length >= 32);

const bus = z.strictObject({
  redis: says(
    text(REDIS_ADDRESS, (value) => readRedisAddress(value) !== undefined),
    'The Redis or Valkey replicas share, as [operations](operations.md) says.',
  ),
  prefix: says(
    matching('1 to 64 of A-Z, a-z, 0-9, _, ., : and -', /^[A-Za-z0-9_.:-]{1,64}$/).prefault('mcp-ws'),
    'What the names of its keys begin with, in braces; gateways of one prefix are replicas of each other.',
  ),
});

const naming = z.strictObject({
  separator: says(
    matching('1 to 8 of A-Z, a-z, 0-9, _, . and -', /^[A-Za-z0-9_.-]{1,8}$/).prefault('__'),
    'Between prefix and original name.',
  ),
  maxLength: says(count(32, 64).prefault(64), 'Longest public name; a longer one is cut and ends in a hash.'),
});

const file = z.strictObject({ file: says(path, 'File the audit is appended to.') });

const audit = z.strictObject({
  sink: says(
    z
      .union([oneOf('stdout', 'off'), file], { error: 'must be stdout, off or { file }' })
      .meta({ kind: 'one of stdout, off, or mapping', scalar: true })
      .prefault('stdout'),
    'Where decided calls are recorded, one JSON line each; see docs/audit.md.',
  ),
  arguments: says(
    oneOf('none', 'keys', 'redacted', 'full').prefault('keys'),
    'What of the arguments of a call is recorded.',
  ),
  redact: says(list('text', text()).prefault([]), 'Arguments whose values are never recorded.'),
  onOverflow: says(
    oneOf('drop').prefault('drop'),
    'What happens to records that cannot be written in time; what is lost is counted.',
  ),
});

/** Every key of the configuration file, with its kind, default and sentence; see docs/configuration.md. */
export const configSchema = z.strictObject({
  listen: listen.prefault({}),
  ops: ops.prefault({}),
  admin: says(admin.nullable().prefault(null), 'Listener for changes published from outside.'),
  auth: authSchema.prefault({ mode: undefined }),
  origins: says(list('origins', origin).prefault([]), 'Browser origins that may connect.'),
  hosts: says(
    list('hosts', matching('a host, with or without port, or *', /^[^\s/@?#]+$/))
      .nullable()
      .prefault(null),
    "Values of Host that are accepted; null for the host of `auth.resource` and, on a loopback listener, loopback names; ['*'] for any.",
  ),
  seal: z
    .strictObject({
      keys: says(
        list('text', secret).prefault([]),
        'Secrets of at least 32 bytes that seal the state clients are given: the first seals, all open. Empty for a random one, which ends with the process; refused so where `bus` is set.',
      ),
    })
    .prefault({}),
  naming: naming.prefault({}),
  mcpServers: serversSchema.prefault({}),
  policy: says(
    policySchema.optional(),
    'Who may see and use what, as docs/policy.md says: required in jwt mode; [] and null deny all.',
    'in anonymous mode: everything is allowed',
  ),
  limits: limitsSchema.prefault({}),
  timing: timingSchema.prefault({}),
  bus: says(bus.nullable().prefault(null), 'What replicas tell each other through.'),
  log: z
    .strictObject({
      level: says(
        oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent').prefault('info'),
        'The least level that is written.',
      ),
    })
    .prefault({}),
  audit: audit.prefault({}),
});

type Parsed = Immutable<Omit<z.output<typeof configSchema>, 'policy'>>;

/** The configuration as the rest of the gateway sees it: defaults filled, durations in milliseconds, sizes in bytes, paths absolute. */
export interface Config extends Parsed {
  readonly policy?: PolicySource;
}

export type Limits = Config['limits'];
export type { AudienceRule, AuthConfig, ClaimPath, IssuerConfig, JwtAuth } from './schema-auth.ts';
export type { KeySource } from './schema-keys.ts';
export { isLoopback } from './schema-loopback.ts';
export type { HttpServer, ModuleServer, ServerConfig, StdioServer } from './schema-server.ts';
