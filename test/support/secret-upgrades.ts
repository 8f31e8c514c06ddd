import type { SecretGateway } from './secret-gateway.ts';
import { APP, askTicket, ticketOf } from './ticketed-gateway.ts';
import { secretKey } from './tokens.ts';
import { type UpgradeRequest, upgrade } from './upgrade-request.ts';

type Headers = NonNullable<UpgradeRequest['headers']>;

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

/** Asks for a socket, and for tickets, in every way that is refused while the gateway runs; returns all it was answered. */
export async function takeRefusals(gateway: SecretGateway): Promise<string[]> {
  const { known, token, far } = gateway;
  const told: string[] = [];
  const knock = async (headers: Headers, path = '/mcp') => {
    const own = { cookie: known.make(`cookie ${told.length}`), 'x-api-key': known.make(`key ${told.length}`) };
    const answer = await upgrade(gateway.url, { path, headers: { ...own, ...headers } });
    told.push(JSON.stringify(answer));
  };
  const good = await token('good');
  await knock({ ...bearer(good), upgrade: undefined, connection: 'close' });
  await knock({ ...bearer(good), 'sec-websocket-key': known.make('websocket key') });
  await knock({ ...bearer(good), host: 'elsewhere.example' });
  await knock({ ...bearer(good), origin: 'https://evil.example' });
  await knock({ ...bearer(good), 'sec-websocket-protocol': 'other' });
  await knock({ 'sec-websocket-protocol': `mcp, mcp.auth.${known.make('subprotocol')}` });
  await knock({ 'sec-websocket-protocol': `mcp, mcp.auth.${good}`, ...bearer(known.make('second')) });
  await knock({ authorization: `Basic ${known.make('basic')}` });
  await knock({ 'proxy-authorization': `Bearer ${known.make('proxy')}` });
  await knock({}, `/mcp?token=${await token('in the query')}`);
  await knock({}, `/mcp?access_token=${known.make('in the query too')}&ticket=${known.make('beside it')}`);
  for (const bad of await badTokens(gateway)) {
    await knock(bearer(bad));
    await knock({ ...bearer(bad), origin: APP, 'sec-websocket-protocol': 'mcp' });
    told.push(await bodyOf(askTicket(gateway, { token: bad, origin: APP })));
  }
  await knock(bearer(await far('of another issuer')));
  for (const ticket of await badTickets(gateway)) await knock({ origin: APP }, `/mcp?ticket=${ticket}`);
  told.push(await bodyOf(askTicket(gateway, { token: good, body: known.make('body') })));
  told.push(await bodyOf(askTicket(gateway, { token: good, query: `?token=${known.make('ticket query')}` })));
  return [...told, ...(await takeTooMuch(gateway))];
}

async function badTokens({ known, token }: SecretGateway): Promise<string[]> {
  const now = Math.floor(Date.now() / 1000);
  const forged = secretKey('another secret of more than 32 bytes');
  return [
    await token('expired', { exp: now - 600, sub: known.make('expired sub') }),
    await token('forged', { sub: known.make('forged sub') }, { key: forged }),
    await token('elsewhere', { aud: `https://${known.make('audience')}example` }),
    await token('of nobody', { iss: `https://${known.make('issuer')}example` }),
    await token('without scope', { scope: known.make('scope'), extra: known.make('claim') }),
    known.make('malformed'),
    `${known.make('a')}.${known.make('b')}.${known.make('c')}`,
  ];
}

/** Spent, asked for by another page, made up. */
async function badTickets(gateway: SecretGateway): Promise<string[]> {
  const { known, token } = gateway;
  const ask = async (name: string, origin: string | undefined) => {
    const ticket = await ticketOf(gateway, { token: await token(`for the ${name}`, { sub: 'ticketed' }), origin });
    return known.know(name, ticket);
  };
  const [spent, other] = [await ask('spent ticket', APP), await ask('other ticket', undefined)];
  await upgrade(gateway.url, { path: `/mcp?ticket=${spent}`, headers: { origin: APP } });
  return [spent, other, known.know('made up', 'madeUpTicket'.padEnd(43, 'q')), known.make('no ticket')];
}

/** More sockets and tickets than one may have. */
async function takeTooMuch(gateway: SecretGateway): Promise<string[]> {
  const token = await gateway.token('crowd', { sub: 'crowd' });
  const sockets = await Promise.all(
    Array.from({ length: 5 }, () => upgrade(gateway.url, { headers: { authorization: `Bearer ${token}` } })),
  );
  for (let n = 0; n < 20; n += 1) {
    gateway.known.know(`ticket ${n}`, await ticketOf(gateway, { token }));
  }
  return [...sockets.map((answer) => JSON.stringify(answer)), await bodyOf(askTicket(gateway, { token }))];
}

async function bodyOf(asked: Promise<Response>): Promise<string> {
  const answer = await asked;
  return JSON.stringify([...answer.headers]) + (await answer.text());
}
