import { expect, test } from 'vitest';
import type { Canaries } from '../support/canaries.ts';
import type { HttpUpstream } from '../support/http-upstream.ts';
import { toolCall } from '../support/messages.ts';
import { handshake, reasonOf, takeFaults } from '../support/secret-calls.ts';
import { type SecretGateway, secretGateway, type Way } from '../support/secret-gateway.ts';
import { takeLimits } from '../support/secret-limits.ts';
import { takeRefusals } from '../support/secret-upgrades.ts';
import { APP, ticketOf } from '../support/ticketed-gateway.ts';
import { refresh } from '../support/token-gateway.ts';
import { upgrade } from '../support/upgrade-request.ts';

const PATIENT = { timeout: 20_000 };

/** All of REFUSALS but `tickets`: the store in memory never fails, and is full with ten thousand. */
const REFUSED = [
  'body',
  'connections',
  'connections_per_address',
  'connections_per_principal',
  'draining',
  'forwarded',
  'handshakes',
  'handshakes_per_address',
  'host',
  'insufficient_scope',
  'invalid_ticket',
  'invalid_token',
  'keys_unavailable',
  'no_token',
  'not_an_upgrade',
  'origin',
  'overloaded',
  'pending',
  'subprotocol',
  'tickets_per_principal',
  'token_carriage',
  'websocket',
];

/** All of FAULTS but `internal`, which is for what nobody thought of. */
const FAILED = [
  'at_capacity',
  'draining',
  'rate_limited',
  'state_gone',
  'timeout',
  'too_large',
  'too_many_in_flight',
  'upstream_closed',
  'upstream_unavailable',
];

test('no secret is in any stream, with every refusal taken', async () => {
  const gateway = await secretGateway();
  const { known } = gateway;
  const bystander = await handshake(gateway, await gateway.token('bystander', { sub: 'bystander' }));
  await bystander.ask(toolCall('before', 'up__run'));
  const answers = await takeRefusals(gateway);
  const faults = await takeFaults(gateway);
  await bystander.ask(toolCall('after', 'up__run'));
  const end = await drained(gateway);
  expect(await gateway.stop()).toBe(0);
  const limits = await takeLimits(known);

  expect([...new Set([...refusals(gateway), ...limits.keys()])].sort()).toEqual(REFUSED);
  expect([...new Set([...faults, ...end.faults])].filter((reason) => reason !== '').sort()).toEqual(FAILED);
  const streams = {
    log: gateway.log.map((line) => JSON.stringify(line)),
    audit: gateway.stdout.map(withoutUri),
    operator: end.operator,
    answers,
    bystander: bystander.frames,
    limits: [...limits.values()],
  };
  const seen = Object.entries(streams).flatMap(([name, texts]) => texts.flatMap((text) => told(name, text, known)));
  expect(seen).toEqual([]);
}, 120_000);

/** With what they were in, to be found by. */
function told(stream: string, text: string, { seenIn }: Canaries): string[] {
  return seenIn(text).map((secret) => `${secret} in ${stream}: ${text.slice(0, 300)}`);
}

function refusals({ log }: SecretGateway): unknown[] {
  return log.filter(({ event }) => /^(upgrade|ticket)_refused$/.test(String(event))).map(({ reason }) => reason);
}

/** The URI that was asked for is what the audit is there to tell. */
function withoutUri(line: string): string {
  return line.replace(/"target":"res:[^"]*"/, '');
}

/** Told to stop while a call is under way: what comes then, and what an operator reads until the end. */
async function drained(gateway: SecretGateway): Promise<{ faults: string[]; operator: string[] }> {
  const { known, held, token } = gateway;
  const one = await handshake(gateway, await token('held', { sub: 'held' }));
  const call = (id: string) => toolCall(id, 'keep__hold', { secret: known.make(`argument ${id}`) });
  one.send(call('held'));
  await expect.poll(() => held.held.length, PATIENT).toBe(1);
  const faults = [reasonOf(await one.ask(call('one too many')))];
  const operator = [await gateway.read()];
  const stopped = gateway.stop();
  const headers = { authorization: `Bearer ${await token('too late', { sub: 'late' })}` };
  await expect.poll(async () => (await upgrade(gateway.url, { headers })).body, PATIENT).toContain('draining');
  faults.push(reasonOf(await one.ask(call('too late'))));
  operator.push(await gateway.read());
  held.release();
  await stopped;
  return { faults, operator };
}

test('no upstream sees a token of a caller', async () => {
  const gateway = await secretGateway();
  const { token, known, upstreams } = gateway;
  const bearers = [await token('header', { sub: 'one' }), await token('subprotocol', { sub: 'two' })];
  const page = await ticketOf(gateway, { token: await token('for a ticket', { sub: 'three' }), origin: APP });
  const ways: Way[] = [
    { headers: { authorization: `Bearer ${bearers[0]}`, 'x-forwarded-access-token': known.make('forwarded') } },
    { protocols: ['mcp', `mcp.auth.${bearers[1]}`] },
    { headers: { origin: APP }, query: `?ticket=${known.know('ticket', page)}` },
  ];
  const clients = await Promise.all(ways.map((way) => handshake(gateway, way)));
  for (const [n, client] of clients.entries()) {
    for (const name of ['up__run', 'http__200', 'flaky__200', 'keep__hold']) client.send(toolCall(name, name));
    await client.ask(refresh('r', await token(`fresh ${n}`, { sub: ['one', 'two', 'three'][n] })));
    await client.ask(toolCall('again', 'up__run'));
  }
  const { up, http, flaky } = upstreams;
  await expect.poll(() => heardBy(http).filter((text) => text.includes('tools/call')).length, PATIENT).toBe(3);
  const heard = [...up.links, ...gateway.held.links].map(({ heard: all }) => JSON.stringify(all));
  expect(heard.filter((text) => text.includes('tools/call'))).toHaveLength(4);
  const ours = known.seenIn([...heard, ...heardBy(http), ...heardBy(flaky)].join('\n'));
  expect(ours).toEqual(['http authorization', 'http key', 'flaky authorization', 'flaky key']);
}, 60_000);

/** Headers and bodies. */
function heardBy({ exchanges }: HttpUpstream): string[] {
  return exchanges.map(({ headers, body }) => JSON.stringify({ headers, body }));
}
