// What `helm test` runs: the gateway is ready, and asks a caller without a token for one. A refused upgrade is an answer like any other.
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';

const { READY_URL, GATEWAY_URL, TAKEN_HOST } = process.env;
const ATTEMPTS = 10;

await until('ready', () => answerOf(READY_URL, {}), 200);
const upgrade = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' };
const key = Buffer.alloc(16, 1).toString('base64');
const headers = { ...upgrade, 'sec-websocket-key': key, ...(TAKEN_HOST && { host: TAKEN_HOST }) };
await until('upgrade without a token', () => answerOf(GATEWAY_URL, headers), 401);

/** Asks once a second until the status is the right one; an address may need a moment until its rules are in force. */
async function until(what, ask, wanted) {
  for (let attempt = 1; ; attempt += 1) {
    const got = await ask().catch((error) => error.message);
    if (got === wanted || attempt === ATTEMPTS) {
      console.log(`${got === wanted ? 'ok' : 'FAILED'}  ${what}: ${got}`);
      if (got !== wanted) process.exit(1);
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}

/** The status of the answer. The certificate is the public name's, which is not the one dialled here. */
function answerOf(url, headers) {
  const send = url.startsWith('https:') ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const request = send(url, { headers, timeout: 2000, agent: false, rejectUnauthorized: false });
    request.on('response', (response) => response.resume() && resolve(response.statusCode));
    request.on('upgrade', (response, socket) => socket.destroy() && resolve(response.statusCode));
    request.on('timeout', () => request.destroy(new Error('no answer within 2 s')));
    request.on('error', reject);
    request.end();
  });
}
