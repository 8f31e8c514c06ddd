import { z } from 'zod';
import { concernsOwnMethod } from '../policy/own-methods.ts';
import { count, duration, flag, type Immutable, list, matching, oneOf, says, table, text } from './schema-kinds.ts';
import { hasUserinfo, parseUrl } from './schema-loopback.ts';

export const SERVER_KEY = /^[a-z0-9-]{1,24}$/;

const breaker = z.strictObject({
  failures: says(count().prefault(5), 'Failed connects in a row that open the breaker.'),
  open: says(duration().prefault('30s'), 'How long an open breaker waits before the next attempt, less up to a fifth.'),
  maxOpen: says(duration().prefault('5m'), 'How long that wait may grow to.'),
});

const vendorGlob = text("a glob that matches no method of MCP's own", (value) => !concernsOwnMethod(value));

const common = {
  isolation: says(
    oneOf('session', 'shared').prefault('session'),
    'One link for each session, or one for all, on which a handshake server can ask nothing.',
  ),
  prefix: says(
    matching('at most 32 of A-Z, a-z, 0-9, _, . and -', /^[A-Za-z0-9_.-]{0,32}$/).optional(),
    'What public names begin with; empty for none. No two upstreams share one.',
    'the key',
  ),
  timeout: says(duration().prefault('120s'), 'How long a request may take; progress starts it anew.'),
  maxTimeout: says(
    duration().prefault('600s'),
    'How long a request may take whatever its progress; at least `timeout`.',
  ),
  startTimeout: says(
    duration().prefault('10s'),
    'How long connecting, initialising and the first lists may take; readiness waits this long at most.',
  ),
  required: says(flag().prefault(false), 'The gateway is ready only after this upstream answered once.'),
  keepListed: says(duration('zero').prefault('5m'), 'How long what a dead upstream offered stays listed.'),
  relist: says(duration().prefault('10m'), 'How often lists are read again without being asked to.'),
  uris: says(
    list('globs', text('a glob')).nullable().prefault(null),
    'The only resource URIs it may own; null for any.',
  ),
  maxLinks: says(count().prefault(32), 'Links to it open at once.'),
  idle: says(duration().prefault('5m'), "How long a session's link may be unused before it is closed."),
  concurrency: says(count().prefault(256), 'Requests under way at once on one link.'),
  breaker: breaker.prefault({}),
  methods: says(
    list('method globs', vendorGlob).prefault([]),
    'Vendor methods and notifications it serves; the first upstream in the file that serves a method gets it.',
  ),
  enabled: says(
    flag().prefault(true),
    'false leaves the upstream out as if it were not in the file; `disabled: true` is the same.',
  ),
};

const type = <const T extends string>(word: T) =>
  says(
    z.literal(word).meta({ kind: 'one of stdio, http, sse, ws, tcp, module' }),
    'How it is reached; `transport` is the same key.',
    'stdio with `command`, module with `module`, with `url` ws, tcp or http by its scheme',
  );

const argument = z.string().refine((value) => !value.includes('\0'), 'must not hold a NUL character');

const stdio = z.strictObject({
  ...common,
  type: type('stdio'),
  command: says(
    text('the name or path of a program'),
    'stdio: the program to run; one that begins with `./` or `../` is relative to this file.',
  ),
  args: says(list('text', argument).prefault([]), 'stdio: its arguments.'),
  env: says(table('text', argument).prefault({}), 'stdio: variables it gets beside a safe few of the gateway’s own.'),
  cwd: says(text('the path of a directory').prefault('.'), 'stdio: its working directory.'),
});

/** Set by the gateway's own transports; a second value would break them. */
const OWN_HEADERS = new Set([
  'accept',
  'connection',
  'content-length',
  'content-type',
  'host',
  'last-event-id',
  'mcp-method',
  'mcp-name',
  'mcp-protocol-version',
  'mcp-session-id',
  'sec-websocket-extensions',
  'sec-websocket-key',
  'sec-websocket-protocol',
  'sec-websocket-version',
  'transfer-encoding',
  'upgrade',
]);

function isOwnHeader(name: string): boolean {
  return OWN_HEADERS.has(name) || name.startsWith('mcp-param-');
}

/** RFC 9110 section 5: a name is a token, a value holds no control character but tab. */
const headers = z
  .record(z.string(), z.string())
  .superRefine((values, context) => {
    for (const [name, value] of Object.entries(values)) {
      const fault = headerFault(name, value);
      if (fault !== undefined) context.addIssue({ code: 'custom', message: fault, path: [name] });
    }
  })
  .meta({ kind: 'mapping to text' });

function headerFault(name: string, value: string): string | undefined {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) return 'is not a header name';
  if (isOwnHeader(name.toLowerCase())) return 'is a header that the gateway sets itself';
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(value)
    ? undefined
    : 'must be text without line breaks that a header can carry';
}

/** A URL is never quoted, and one with a password in it is refused rather than carried about. */
function url(kind: string, scheme: RegExp) {
  const bare = text(`${kind} without user name and password`, (value) => {
    const read = parseUrl(value);
    return read !== undefined && scheme.test(read.protocol) && !hasUserinfo(read);
  });
  return says(bare.meta({ kind: 'a URL without user name and password' }), URL_SAYS);
}

const URL_SAYS =
  'http: the Streamable HTTP endpoint; sse: the event stream of the older transport; ws: a WebSocket; tcp: `tcp://host:port`, newline-delimited messages.';

const requestHeaders = says(
  headers.prefault({}),
  'http, sse: headers every request carries; ws: headers of the upgrade.',
);

const http = z.strictObject({
  ...common,
  type: type('http'),
  url: url('an http or https URL', /^https?:$/),
  headers: requestHeaders,
});

const sse = z.strictObject({
  ...common,
  type: type('sse'),
  url: url('an http or https URL', /^https?:$/),
  headers: requestHeaders,
});

const ws = z.strictObject({
  ...common,
  type: type('ws'),
  url: url('a ws or wss URL', /^wss?:$/),
  headers: requestHeaders,
});

const tcp = z.strictObject({
  ...common,
  type: type('tcp'),
  url: says(text('a URL such as tcp://127.0.0.1:7000, with a port and nothing behind it', isTcpUrl), URL_SAYS),
});

function isTcpUrl(value: string): boolean {
  const read = parseUrl(value);
  if (read?.protocol !== 'tcp:' || read.hostname === '' || hasUserinfo(read)) return false;
  return Number(read.port) > 0 && /^\/?$/.test(read.pathname) && read.search === '' && read.hash === '';
}

const module = z.strictObject({
  ...common,
  type: type('module'),
  module: says(
    text('the path of a file'),
    'module: a file whose default export is a function that returns a new MCP server for each connection; it runs in this process, and what it does not catch ends the gateway.',
  ),
});

const server = z.discriminatedUnion('type', [stdio, http, sse, ws, tcp, module]).superRefine((entry, context) => {
  if (entry.maxTimeout < entry.timeout)
    context.addIssue({ code: 'custom', message: 'must be at least timeout', path: ['maxTimeout'] });
  if (entry.breaker.maxOpen < entry.breaker.open)
    context.addIssue({ code: 'custom', message: 'must be at least open', path: ['breaker', 'maxOpen'] });
});

/** Entries become a list in the order of the file; disabled ones have been left out before (see host-files.ts). */
export const serversSchema = z
  .record(z.string().regex(SERVER_KEY, 'must be named by 1 to 24 of a-z, 0-9 and -'), server)
  .transform((entries, context) => {
    const servers = Object.entries(entries).map(([key, entry]) => keyed(key, entry));
    const owners = new Map<string, string>();
    for (const { key, prefix } of servers) {
      const owner = owners.get(prefix);
      if (owner === undefined) owners.set(prefix, key);
      else
        context.addIssue({
          code: 'custom',
          message: `has the prefix of mcpServers.${owner}; give one of them another prefix`,
          path: [key],
        });
    }
    return servers;
  });

function keyed(key: string, { enabled: _dropped, ...entry }: z.output<typeof server>) {
  return { ...entry, key, prefix: entry.prefix ?? key };
}

/** One upstream as configured: durations in milliseconds, paths absolute. */
export type ServerConfig = Immutable<z.output<typeof serversSchema>>[number];
export type StdioServer = Extract<ServerConfig, { type: 'stdio' }>;
export type HttpServer = Extract<ServerConfig, { type: 'http' }>;
export type ModuleServer = Extract<ServerConfig, { type: 'module' }>;
