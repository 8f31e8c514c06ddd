// The service `secrets` of docker-compose.yml: fills its three volumes at the first start, and leaves them as they are ever after.
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { chownSync, existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Whom gateways and Redis run as. */
const OWNER = 1000;

const [issuer, gateway, redis] = process.argv.slice(2);
const done = join(issuer, 'made');
if (existsSync(done)) process.exit();

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const kid = randomBytes(8).toString('hex');
const key = { ...publicKey.export({ format: 'jwk' }), kid, alg: 'ES256', use: 'sig' };
const password = randomBytes(32).toString('hex');

put(issuer, 'key.json', JSON.stringify({ ...privateKey.export({ format: 'jwk' }), kid }));
put(gateway, 'jwks.json', JSON.stringify({ keys: [key] }));
put(gateway, 'seal-key', randomBytes(32).toString('hex'));
put(gateway, 'admin-token', randomBytes(32).toString('hex'));
put(gateway, 'redis-password', password);
put(redis, 'password', password);
put(redis, 'redis.conf', redisConfiguration());
put(issuer, 'made', '');

/** Nothing on disk: what Redis holds is hints, one-time tickets and counts, all of which may be lost. Hints of the longest URIs come to 200 MB. */
function redisConfiguration() {
  return [
    `requirepass ${password}`,
    'bind * -::*',
    'save ""',
    'appendonly no',
    'maxmemory 256mb',
    'maxmemory-policy noeviction',
    '',
  ].join('\n');
}

/** Whole or not at all; an earlier start may have been cut short. */
function put(directory, name, text) {
  const written = join(directory, `${name}.new`);
  rmSync(written, { force: true });
  writeFileSync(written, text, { mode: 0o400 });
  chownSync(written, OWNER, OWNER);
  renameSync(written, join(directory, name));
}
