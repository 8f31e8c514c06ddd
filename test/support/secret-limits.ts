import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { Canaries } from './canaries.ts';
import { startGateway } from './gateway.ts';
import { startKeyServer } from './key-server.ts';
import { makeIssuer } from './tokens.ts';
import { upgrade } from './upgrade-request.ts';

const NEVER = Number.POSITIVE_INFINITY;
const FULL = { maxEventLoopDelay: NEVER, maxHeapUsedBytes: NEVER, maxRssBytes: 1, sampleInterval: 20 };
const SOON = { timeout: 10_000 };

/** A gateway for each refusal that one for all would be kept from by. */
const NARROW: readonly (readonly [reason: string, limits: object, more?: object])[] = [
  ['overloaded', {}, { pressure: FULL }],
  ['handshakes', { handshakes: { perSecond: 1 } }],
  ['handshakes_per_address', { handshakes: { perAddress: { rate: 1, burst: 1 } } }],
  ['pending', { handshakes: { pending: 1 } }],
  ['connections', { connections: 1 }],
  ['connections_per_address', { connectionsPerAddress: 1 }],
];

/** Takes the refusals of the limits, in gateways of this process; returns by reason what each said: log, audit, metrics. */
export async function takeLimits(known: Canaries): Promise<Map<string, string>> {
  const keys = await startKeyServer();
  onTestFinished(() => keys.close());
  const issuer = await makeIssuer({ alg: 'ES256' });
  keys.rotate(issuer.jwks.keys);
  const auth = {
    mode: 'jwt',
    resource: issuer.audience,
    issuers: [{ issuer: issuer.issuer, keys: { jwksUri: keys.jwksUri } }],
  };
  const said = new Map<string, string>();
  for (const [reason, limits, more] of NARROW) {
    // Two that are judged at once are two of which one is too many.
    if (reason === 'pending') keys.stall();
    const token = known.know(`token ${reason}`, await issuer.sign());
    const headers = { authorization: `Bearer ${token}`, cookie: known.make(`cookie ${reason}`) };
    said.set(reason, await refusedFor(reason, { auth, policy: null, limits }, headers, more));
    keys.release();
  }
  const forwarded = { 'x-forwarded-for': known.make('forwarded'), cookie: known.make('cookie forwarded') };
  said.set('forwarded', await refusedFor('forwarded', {}, forwarded));
  return said;
}

async function refusedFor(reason: string, config: object, headers: Record<string, string>, more: object = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-secrets-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'audit.jsonl');
  const gateway = await startGateway({ ...config, audit: { sink: { file } } }, undefined, more);
  const reasons = () =>
    gateway.log.filter(({ event }) => event === 'upgrade_refused').map(({ fields }) => fields.reason);
  await expect
    .poll(() => {
      for (let n = 0; n < 3; n += 1) void upgrade(gateway.url, { headers }).catch(() => {});
      return reasons();
    }, SOON)
    .toContain(reason);
  const metrics = await gateway.metrics();
  return [JSON.stringify(gateway.log), readFileSync(file, 'utf8'), metrics].join('\n');
}
