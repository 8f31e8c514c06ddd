import { describe, expect, test } from 'vitest';
import { fileBrowser, type Page } from '../support/chromium.ts';
import { startGateway, stdioUpstream } from '../support/gateway.ts';
import { browserConfig, issuer, ticketOf } from '../support/ticketed-gateway.ts';

const browser = fileBrowser();

/** A page that may connect, or one that may not, and a gateway that lists the former's origin. */
async function pages() {
  const [listed, unlisted] = [await browser().page(), await browser().page()];
  const mcpServers = { up: stdioUpstream('plain.mjs') };
  const gateway = await startGateway(browserConfig({ origins: [listed.origin], mcpServers }));
  return { listed, unlisted, gateway, tickets: `${gateway.url.replace('ws:', 'http:')}/tickets` };
}

/** What the page sees of `POST /mcp/tickets`. */
const ask = (page: Page, url: string, token: string) =>
  page.run(
    `try {
       const answer = await fetch(given.url, { method: 'POST', headers: { authorization: 'Bearer ' + given.token } });
       return { status: answer.status, challenge: answer.headers.get('www-authenticate'), body: await answer.json() };
     } catch (error) { return error.name; }`,
    { url, token },
  );

/** What it sees of a socket: whether it opened and as what, the first frame where it sends one, how it closed. */
const connect = (page: Page, url: string, protocols: readonly string[], frame?: object) =>
  page.run(
    `const socket = new WebSocket(given.url, given.protocols);
     const seen = { opened: false };
     socket.onopen = () => { seen.opened = true; seen.protocol = socket.protocol; if (given.frame) socket.send(given.frame); };
     socket.onmessage = ({ data }) => { seen.frame = JSON.parse(data); socket.close(1000); };
     await new Promise((resolve) => { socket.onclose = ({ code, reason }) => resolve(Object.assign(seen, { code, reason })); });
     return seen;`,
    { url, protocols, ...(frame === undefined ? {} : { frame: JSON.stringify(frame) }) },
  );

const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };
const PONG = { jsonrpc: '2.0', id: 1, result: {} };
const UNSEEN = { opened: false, code: 1006, reason: '' };

describe('a page in a browser', () => {
  test('at a listed origin gets a ticket, spends it, and is told when it is spent', async () => {
    const { listed, gateway, tickets } = await pages();
    const given = await ask(listed, tickets, await issuer.sign());
    expect(given).toMatchObject({ status: 201, body: { ticket: expect.stringMatching(/^[\w-]{43}$/), expiresIn: 30 } });
    const url = `${gateway.url}?ticket=${Object(given).body.ticket}`;
    const spent = await connect(listed, url, ['mcp'], PING);
    expect(spent).toEqual({ opened: true, protocol: 'mcp', frame: PONG, code: 1000, reason: '' });
    const again = await connect(listed, url, ['mcp'], PING);
    expect(again).toEqual({ opened: true, protocol: 'mcp', code: 4401, reason: 'unauthenticated' });
  });

  test('at a listed origin reads why its token is refused, by fetch and by the close', async () => {
    const { listed, gateway, tickets } = await pages();
    expect(await ask(listed, tickets, 'nonsense')).toEqual({
      status: 401,
      challenge: expect.stringContaining('error="invalid_token"'),
      body: { error: 'invalid_token' },
    });
    const refused = { opened: true, protocol: 'mcp', code: 4401, reason: 'unauthenticated' };
    expect(await connect(listed, gateway.url, ['mcp', 'mcp.auth.nonsense'])).toEqual(refused);
    const good = await connect(listed, gateway.url, ['mcp', `mcp.auth.${await issuer.sign()}`], PING);
    expect(good).toEqual({ opened: true, protocol: 'mcp', frame: PONG, code: 1000, reason: '' });
  });

  test('at any other origin gets neither a ticket nor a socket, whatever it has', async () => {
    const { listed, unlisted, gateway, tickets } = await pages();
    const token = await issuer.sign();
    expect(await ask(unlisted, tickets, token)).toBe('TypeError');
    expect(await connect(unlisted, gateway.url, ['mcp', `mcp.auth.${token}`], PING)).toEqual(UNSEEN);
    const ticket = await ticketOf(gateway, { origin: listed.origin });
    expect(await connect(unlisted, `${gateway.url}?ticket=${ticket}`, ['mcp'], PING)).toEqual(UNSEEN);
    const refused = gateway.log.filter(({ event }) => event === 'ticket_refused' || event === 'upgrade_refused');
    expect(refused.map(({ fields }) => fields.reason)).toEqual(['origin', 'origin']);
  });
});
