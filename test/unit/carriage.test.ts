import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { carriedToken } from '../../src/auth/carriage.ts';
import { chooseSubprotocol, offeredSubprotocols } from '../../src/protocol/subprotocol.ts';

const NOTHING = { authorization: undefined, subprotocols: [], query: '' };
const TWICE = { problem: 'A token must be sent in exactly one way' };
const BEARER = { problem: 'The Authorization header must hold exactly one Bearer token' };
const SUBPROTOCOL = { problem: 'The subprotocol mcp.auth must hold exactly one token' };
const QUERY = { problem: 'A token must not be sent in the query' };
const TICKET = { problem: 'The query must hold exactly one ticket' };

describe('the token of an upgrade', () => {
  it.each([
    ['nowhere', {}, { none: true }],
    ['in the header', { authorization: 'Bearer a.b.c' }, { token: 'a.b.c' }],
    ['in the header, the scheme in any case', { authorization: 'bEARER  a.b.c ' }, { token: 'a.b.c' }],
    ['in one of a list of headers', { authorization: ['Bearer a.b.c'] }, { token: 'a.b.c' }],
    ['in a subprotocol', { subprotocols: ['mcp', 'mcp.auth.a.b.c'] }, { token: 'a.b.c' }],
    [
      'in a subprotocol beside a proxy’s Basic',
      { authorization: 'Basic eDp5', subprotocols: ['mcp.auth.a.b'] },
      { token: 'a.b' },
    ],
    ['not in a scheme of another kind', { authorization: 'Basic eDp5' }, { none: true }],
    ['not in a scheme that begins alike', { authorization: 'Bearerx a.b.c' }, { none: true }],
    ['not in a query about other things', { query: 'tokens=1&my_token=2' }, { none: true }],
    ['in header and subprotocol', { authorization: 'Bearer a', subprotocols: ['mcp.auth.a'] }, TWICE],
    ['in two headers', { authorization: ['Bearer a', 'Bearer a'] }, BEARER],
    ['missing after its scheme', { authorization: 'Bearer' }, BEARER],
    ['two in one header', { authorization: 'Bearer a b' }, BEARER],
    ['two in one header, by comma', { authorization: 'Bearer a,b' }, BEARER],
    ['two subprotocols', { subprotocols: ['mcp.auth.a', 'mcp.auth.b'] }, SUBPROTOCOL],
    ['an empty subprotocol', { subprotocols: ['mcp.auth.'] }, SUBPROTOCOL],
    ['in the query', { query: '?token=a' }, QUERY],
    ['in the query beside a good one', { query: 'x=1&access_token=a', authorization: 'Bearer a' }, QUERY],
    ['in the query, empty', { query: 'jwt' }, QUERY],
    ['in the query, percent-encoded', { query: '%74%6Fken=a' }, QUERY],
    ['in the query, in another case', { query: 'Access_Token=a' }, QUERY],
    ['a ticket in its place', { query: '?x=1&ticket=abc' }, { ticket: 'abc' }],
    ['a ticket, its name percent-encoded', { query: '%74icket=abc' }, { ticket: 'abc' }],
    ['an empty ticket', { query: 'ticket' }, { ticket: '' }],
    ['two tickets', { query: 'ticket=a&ticket=a' }, TICKET],
    ['a ticket in another case', { query: 'Ticket=a' }, TICKET],
    ['a ticket and one in another case', { query: 'ticket=a&TICKET=a' }, TICKET],
    ['a ticket and a header', { query: 'ticket=a', authorization: 'Bearer a' }, TWICE],
    ['a ticket and a subprotocol', { query: 'ticket=a', subprotocols: ['mcp.auth.a'] }, TWICE],
    ['a ticket and a token in the query', { query: 'ticket=a&token=a' }, QUERY],
    ['a ticket beside a proxy’s Basic', { query: 'ticket=a', authorization: 'Basic eDp5' }, { ticket: 'a' }],
  ])('%s', (_, carriers, expected) => {
    expect(carriedToken({ ...NOTHING, ...carriers })).toStrictEqual(expected);
  });

  it('is found as it was sent, and no problem quotes it', () => {
    const token = fc.stringMatching(/^[\w-]{9,30}\.[\w-]{9,30}\.[\w-]{9,30}$/);
    fc.assert(
      fc.property(token, (sent) => {
        expect(carriedToken({ ...NOTHING, authorization: `Bearer ${sent}` })).toStrictEqual({ token: sent });
        expect(carriedToken({ ...NOTHING, subprotocols: offeredSubprotocols(`mcp, mcp.auth.${sent}`) })).toStrictEqual({
          token: sent,
        });
        const both = carriedToken({
          authorization: `Bearer ${sent}`,
          subprotocols: [`mcp.auth.${sent}`],
          query: `token=${sent}`,
        });
        expect(JSON.stringify(both)).not.toContain(sent);
      }),
    );
  });
});

describe('the subprotocol of an upgrade', () => {
  it.each([
    ['none offered', undefined, { select: null }],
    ['an empty header', ' , ', { select: null }],
    ['mcp alone', 'mcp', { select: 'mcp' }],
    ['mcp among others', 'graphql-ws ,mcp.version.1,mcp,mcp.auth.a.b.c', { select: 'mcp' }],
    ['others', 'graphql-ws', { refuse: true }],
    ['a token without mcp', 'mcp.auth.a.b.c', { refuse: true }],
    ['mcp in another case', 'MCP', { refuse: true }],
  ])('%s', (_, header, expected) => {
    expect(chooseSubprotocol(offeredSubprotocols(header))).toStrictEqual(expected);
  });
});
