import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { openRaw } from '../support/raw-client.ts';
import { connectTcp } from '../support/tcp-client.ts';
import { ticketOf } from '../support/ticketed-gateway.ts';
import { makeIssuer } from '../support/tokens.ts';
import { upgrade } from '../support/upgrade-request.ts';

const issuer = await makeIssuer();
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const JWT = {
  auth: {
    mode: 'jwt',
    resource: issuer.audience,
    requiredScopes: ['mcp:use'],
    issuers: [{ issuer: issuer.issuer, keys: { secret: issuer.secret } }],
  },
  policy: 'allow-authenticated',
};
const ID = expect.stringMatching(/^[0-9a-f-]{36}$/);
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
const WEBSOCKET = { time: TIME, event: 'auth', request: ID, address: '127.0.0.1', via: 'websocket' };
const TCP = { ...WEBSOCKET, via: 'tcp' };

/** A gateway, and the audit it has written: its text, and its lines in the order they were. */
async function audited(config: object) {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-auth-audit-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'audit.jsonl');
  const gateway = await startGateway({ ...config, audit: { sink: { file } } });
  const text = () => readFileSync(file, 'utf8');
  const lines = () =>
    text()
      .split('\n')
      .slice(0, -1)
      .map((line): { request?: string } => JSON.parse(line));
  return { gateway, text, lines };
}

/** The ids of the refusals the log tells of. */
const logged = ({ log }: TestGateway, event: string) =>
  log.filter((line) => line.event === event).map(({ fields }) => fields.request);

test('who is let in is one line, under the id of the session', async () => {
  const { gateway, lines } = await audited(JWT);
  await openRaw(gateway.url, { headers: bearer(await issuer.sign({ scope: 'mcp:use' })) });
  const who = { issuer: 'https://idp.example.com/', id: 'alice' };
  await expect.poll(lines).toEqual([{ ...WEBSOCKET, session: ID, ...who, decision: 'allow' }]);
  expect(lines()[0]).toHaveProperty('session', lines()[0]?.request);
});

test('who is refused is one line with the word of the refusal, the id of the log, and nothing that was not verified', async () => {
  const { gateway, lines, text } = await audited(JWT);
  const forged = await issuer.sign({ scope: 'mcp:use', sub: 'canary-sub', iss: 'https://canary.example/' });
  const ungranted = await issuer.sign({ scope: 'canary-scope' });
  await upgrade(gateway.url, { headers: { origin: 'https://canary.example' } });
  await upgrade(gateway.url);
  await upgrade(gateway.url, { headers: bearer(forged) });
  await upgrade(gateway.url, { headers: bearer(ungranted) });
  const denied = { ...WEBSOCKET, decision: 'deny' };
  const alice = { issuer: 'https://idp.example.com/', id: 'alice' };
  await expect.poll(lines).toEqual([
    { ...denied, reason: 'origin' },
    { ...denied, reason: 'no_token' },
    { ...denied, reason: 'invalid_token' },
    { ...denied, ...alice, reason: 'insufficient_scope' },
  ]);
  expect(logged(gateway, 'upgrade_refused')).toEqual(lines().map(({ request }) => request));
  for (const secret of ['canary', forged, ungranted]) expect(text()).not.toContain(secret);
});

test('the log says from where, and what is wrong with a token; its caller and the audit are not told', async () => {
  const { gateway, lines } = await audited(JWT);
  const signed = await issuer.sign({ scope: 'mcp:use' });
  const forged = bearer(`${signed.slice(0, signed.lastIndexOf('.'))}.${'A'.repeat(86)}`);
  await upgrade(gateway.url, { headers: forged });
  const tickets = `${gateway.url.replace('ws:', 'http:')}/tickets`;
  await fetch(tickets, { method: 'POST', headers: forged });
  const told = { request: ID, address: '127.0.0.1', reason: 'invalid_token', cause: 'bad_signature' };
  for (const event of ['upgrade_refused', 'ticket_refused'])
    expect(gateway.log.filter((line) => line.event === event).map(({ fields }) => fields)).toEqual([told]);
  const denied = { ...WEBSOCKET, decision: 'deny', reason: 'invalid_token' };
  await expect.poll(lines).toEqual([denied, denied]);
});

test('one socket too many of a principal is refused under its name', async () => {
  const { gateway, lines } = await audited({ ...JWT, limits: { connectionsPerPrincipal: 1 } });
  const headers = bearer(await issuer.sign({ scope: 'mcp:use' }));
  await openRaw(gateway.url, { headers });
  await upgrade(gateway.url, { headers });
  const denied = { decision: 'deny', id: 'alice', reason: 'connections_per_principal' };
  await expect.poll(lines).toEqual([expect.objectContaining({ decision: 'allow' }), expect.objectContaining(denied)]);
});

test('connections to the TCP listener are lines when their first line has come', async () => {
  const { gateway, lines } = await audited({ listen: { port: 0, tcp: { port: 0 } } });
  const quiet = await connectTcp(gateway.tcp);
  const page = await connectTcp(gateway.tcp);
  page.send('POST / HTTP/1.1\r\n\r\n');
  await page.rest();
  await (await connectTcp(gateway.tcp)).initialize();
  const denied = { ...TCP, issuer: 'anonymous', id: ID, decision: 'deny', reason: 'first_line' };
  const allowed = { ...TCP, issuer: 'anonymous', id: ID, session: ID, decision: 'allow' };
  await expect.poll(lines).toEqual([denied, allowed]);
  expect(logged(gateway, 'tcp_refused')).toEqual([lines()[0]?.request]);
  quiet.socket.destroy();
});

test('a ticket is a line for whoever asked for it, and the upgrade that spends it is another', async () => {
  const { gateway, lines, text } = await audited(JWT);
  const ticket = await ticketOf(gateway, { token: await issuer.sign({ scope: 'mcp:use' }) });
  await openRaw(`${gateway.url}?ticket=${ticket}`);
  const allowed = { ...WEBSOCKET, issuer: 'https://idp.example.com/', id: 'alice', decision: 'allow' };
  await expect.poll(lines).toEqual([allowed, { ...allowed, session: ID }]);
  expect(text()).not.toContain(ticket);
});

test('what is refused before anything of it is read is counted, and in no line', async () => {
  const { gateway, lines } = await audited({ limits: { handshakes: { perAddress: { rate: 1, burst: 2 } } } });
  const answers = await Promise.all(Array.from({ length: 20 }, () => upgrade(gateway.url)));
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(18);
  await fetch(gateway.url.replace('ws:', 'http:'));
  await gateway.close();
  expect(lines()).toHaveLength(2);
  const levels = gateway.log.filter(({ event }) => event === 'upgrade_refused').map(({ level }) => level);
  expect(new Set(levels)).toEqual(new Set(['debug']));
});
