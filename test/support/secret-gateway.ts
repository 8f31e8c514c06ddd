import { onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import { type Canaries, canaries } from './canaries.ts';
import { startServing } from './cli.ts';
import { fileWith } from './config-fixtures.ts';
import { startKeyServer } from './key-server.ts';
import { connectRaw, type RawClient } from './raw-client.ts';
import { blabbing, echoing, keeper, tellTale } from './secret-upstreams.ts';
import { APP } from './ticketed-gateway.ts';
import { makeIssuer, type SignOptions, type TestClaims } from './tokens.ts';

const AUDIENCE = 'https://mcp.example.com/mcp';
const POLICY = [
  { roles: ['user'], allow: { tools: ['**'], prompts: ['**'], resources: ['**'] } },
  { deny: { tools: ['up/denied'], prompts: ['up/hidden'], resources: ['res://x?key=denied*'] } },
  { deny: { tools: ['up/ruled'] }, when: 'arguments.secret > 5' },
];
const TIMING = { drain: { inFlight: '20s', waves: '0s' } };
const LIMITS = { connectionsPerPrincipal: 4, inFlight: 4, maxMessage: '256KiB', maxUpstreamMessage: '64KiB' };

const ODD = { odd: 'the upstream answers with what breaks a rule' };

/** How a caller shows who it is. */
export interface Way {
  readonly headers?: Readonly<Record<string, string>>;
  readonly protocols?: readonly string[];
  readonly query?: string;
}

/** A built gateway that logs all it can, whose callers, configuration and upstreams hold secrets, and what it says. */
export type SecretGateway = Awaited<ReturnType<typeof secretGateway>>;

export async function secretGateway() {
  const known = canaries();
  const keys = await startKeyServer();
  onTestFinished(() => keys.close());
  keys.fail(500);
  const issuer = await makeIssuer({ audience: AUDIENCE });
  const far = await makeIssuer({ alg: 'ES256', audience: AUDIENCE, issuer: 'https://far.example.com/' });
  const held = await keeper();
  const upstreams = await secretUpstreams(known, held.entry);
  const file = (name: string) => `\${file:${fileWith('secret', known.make(name).padEnd(40, '.'))}}`;
  const config = {
    listen: { port: 0 },
    ops: { port: 0 },
    log: { level: 'debug' },
    auth: {
      mode: 'jwt',
      resource: AUDIENCE,
      requiredScopes: ['mcp'],
      issuers: [
        { issuer: issuer.issuer, keys: { secret: known.know('secret', issuer.secret) } },
        { issuer: far.issuer, keys: { jwksUri: keys.jwksUri } },
      ],
    },
    origins: [APP],
    seal: { keys: [file('seal')] },
    policy: POLICY,
    limits: LIMITS,
    timing: TIMING,
    mcpServers: { ...upstreams.entries, filed: await filedEntry(file('file')) },
  };
  const serving = await startServing(fileWith('gateway.yaml', stringify(config)));
  let stopping: Promise<number | null> | undefined;
  const stop = () => (stopping ??= serving.stop());
  onTestFinished(async () => {
    held.release();
    await stop();
  });
  await untilReady(serving.opsUrl);

  /** A token of this subject that is looked for afterwards. */
  const token = async (name: string, claims: TestClaims = {}, options: SignOptions = {}) =>
    known.know(name, await issuer.sign({ scope: 'mcp', roles: ['user'], ...claims }, options));
  return {
    ...serving,
    stop,
    known,
    held,
    upstreams,
    token,
    far: async (name: string) => known.know(name, await far.sign({ scope: 'mcp' })),
    /** By a token in the header, or as told; with a cookie. */
    connect: (way: string | Way): Promise<RawClient> => {
      const { query = '', headers, protocols = ['mcp'] } = typeof way === 'string' ? byBearer(way) : way;
      const cookie = `session=${known.make(`cookie of ${JSON.stringify(way)}`)}`;
      return connectRaw(serving.url + query, { ...ODD, protocols, headers: { cookie, ...headers } });
    },
    /** What its operator reads, apart from the log. */
    read: async () => {
      const paths = ['metrics', 'readyz', 'healthz'];
      const texts = await Promise.all(paths.map(async (path) => (await fetch(`${serving.opsUrl}/${path}`)).text()));
      return texts.join('\n');
    },
  };
}

function byBearer(token: string): Way {
  return { headers: { authorization: `Bearer ${token}` } };
}

async function secretUpstreams(known: Canaries, keep: object) {
  const headers = (name: string) => ({
    Authorization: `Bearer ${known.make(`${name} authorization`)}`,
    'X-Api-Key': known.make(`${name} key`),
  });
  const up = await tellTale();
  const http = await echoing(headers('http'));
  const flaky = await echoing(headers('flaky'), 1);
  const entries = {
    up: up.entry,
    keep,
    http: http.entry,
    flaky: flaky.entry,
    child: blabbing(known),
    gone: { url: 'http://127.0.0.1:9/mcp', headers: headers('gone') },
  };
  return { entries, up, http, flaky };
}

/** Its credential is in a file of its own. */
async function filedEntry(secret: string): Promise<object> {
  const { entry } = await echoing({ Authorization: `Bearer ${secret}` }, 0);
  return entry;
}

async function untilReady(opsUrl: string): Promise<void> {
  const { status } = await fetch(`${opsUrl}/readyz`);
  if (status !== 200) return untilReady(opsUrl);
}
