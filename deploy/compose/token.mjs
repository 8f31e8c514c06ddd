// The service `token` of docker-compose.yml: prints a token for an id and its roles, good for an hour. For development only.
import { createPrivateKey, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** As deploy/compose/gateway.yaml has them. */
const ISSUER = 'https://issuer.compose.example/';
const AUDIENCE = 'http://127.0.0.1:8080/mcp';
const LIFE_SECONDS = 3600;

const [id, ...roles] = process.argv.slice(2);
const { kid, ...key } = JSON.parse(readFileSync('/secrets/issuer/key.json', 'utf8'));
const now = Math.floor(Date.now() / 1000);
const head = part({ alg: 'ES256', typ: 'JWT', kid });
const claims = part({ iss: ISSUER, aud: AUDIENCE, sub: id, roles, iat: now, exp: now + LIFE_SECONDS });
const signature = sign('sha256', Buffer.from(`${head}.${claims}`), {
  key: createPrivateKey({ key, format: 'jwk' }),
  dsaEncoding: 'ieee-p1363',
});
process.stdout.write(`${head}.${claims}.${signature.toString('base64url')}\n`);

function part(value) {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
