import { BlockList, isIP } from 'node:net';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addressKey, blocksOf, clientAddress, isCidr } from '../../src/policy/address.ts';

const PROXIES = blocksOf(['10.0.0.0/8', '2001:db8:aaaa::/48', '::ffff:192.0.2.0/120']);
const of = (peer: string | undefined, forwarded: string) => clientAddress(peer, forwarded, PROXIES);

describe('whose connection it is', () => {
  test.each([
    ['a peer that is no proxy is who it is, whatever it says', '203.0.113.9', '198.51.100.7', '203.0.113.9'],
    ['a proxy says whose it is', '10.0.0.1', '198.51.100.7', '198.51.100.7'],
    ['what stands left of that anyone could have written', '10.0.0.1', '1.1.1.1, 198.51.100.7', '198.51.100.7'],
    ['proxies in a row are passed over', '10.0.0.1', '198.51.100.7, 10.9.9.9,10.1.1.1', '198.51.100.7'],
    ['of proxies alone the first', '10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    ['a proxy that says nothing is the caller', '10.0.0.1', '', '10.0.0.1'],
    ['garbage ends the walk at the last address', '10.0.0.1', '198.51.100.7, unknown, 10.0.0.2', '10.0.0.2'],
    ['so does an empty place', '10.0.0.1', '198.51.100.7,,10.0.0.2', '10.0.0.2'],
    ['a short spelling of IPv4 is garbage', '10.0.0.1', '198.51.1', '10.0.0.1'],
    ['a zone in the header is garbage', '10.0.0.1', 'fe80::1%eth0', '10.0.0.1'],
    ['a port is left out', '10.0.0.1', '198.51.100.7:4711', '198.51.100.7'],
    ['brackets and a port too', '10.0.0.1', '[2001:DB8::0:7]:443', '2001:db8::7'],
    ['IPv6 in its one spelling', '2001:db8:aaaa::1', '2001:0DB8:0:0::7', '2001:db8::7'],
    ['a mapped peer is an IPv4 proxy', '::ffff:10.0.0.1', '198.51.100.7', '198.51.100.7'],
    ['a mapped caller is IPv4', '10.0.0.1', '::ffff:198.51.100.7', '198.51.100.7'],
    ['a mapped block is one of IPv4', '192.0.2.77', '198.51.100.7', '198.51.100.7'],
    ['and ends where it ends', '192.0.3.77', '198.51.100.7', '192.0.3.77'],
    ['a peer without its zone', 'fe80::1%eth0', '', 'fe80::1'],
    ['a Unix socket has none', undefined, '198.51.100.7', ''],
  ])('%s', (_what, peer, forwarded, expected) => {
    expect(of(peer, forwarded)).toBe(expected);
  });
});

const octet = fc.integer({ min: 0, max: 255 });
const ipv4 = fc.tuple(fc.constantFrom(10, 198), octet, octet, octet).map((parts) => parts.join('.'));
const ipv6 = fc
  .tuple(
    fc.constantFrom('2001:db8:aaaa', '2001:db8:bbbb'),
    fc.array(fc.integer({ min: 1, max: 0xffff }), { minLength: 5, maxLength: 5 }),
  )
  .map(([net, parts]) => `${net}:${parts.map((part) => part.toString(16)).join(':')}`);
const address = fc.oneof(ipv4, ipv6);
const junk = fc.string({ maxLength: 12 }).filter((text) => !text.includes(',') && !/[.:]/.test(text));

/** Node's own judge of the same blocks. */
const known = new BlockList();
known.addSubnet('10.0.0.0', 8, 'ipv4');
known.addSubnet('2001:db8:aaaa::', 48, 'ipv6');
const isProxy = (text: string) => known.check(text, isIP(text) === 6 ? 'ipv6' : 'ipv4');

test('property: nothing that stands left of the first address outside the list changes whose it is', () => {
  fc.assert(
    fc.property(address, fc.array(address), fc.array(fc.oneof(address, junk)), (peer, believed, invented) => {
      const path = [...believed, peer];
      const outside = path.findLastIndex((hop) => !isProxy(hop));
      const client = path[Math.max(outside, 0)];
      const header = outside === -1 ? believed : [...invented, ...believed];
      expect(of(peer, header.join(', '))).toBe(client);
    }),
  );
});

test('property: whatever the header holds, it is the peer or an address that stands in the header', () => {
  fc.assert(
    fc.property(address, fc.array(fc.oneof(address, junk)), (peer, hops) => {
      expect([peer, ...hops.map((hop) => hop.trim())]).toContain(of(peer, hops.join(',')));
    }),
  );
});

describe('limits per address count', () => {
  test.each([
    ['198.51.100.7', '198.51.100.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2:ffff::', '2001:db8:1:2::/64'],
    ['2001:db8:1:3::', '2001:db8:1:3::/64'],
    ['::1', '0:0:0:0::/64'],
    ['', ''],
  ])('%j as %j', (given, key) => {
    expect(addressKey(given)).toBe(key);
  });
});

describe('a block of addresses', () => {
  test.each(['10.0.0.0/8', '10.1.2.3/32', '0.0.0.0/0', '::/0', '2001:db8::/32', '::ffff:10.0.0.0/104'])(
    '%s',
    (text) => {
      expect(isCidr(text)).toBe(true);
    },
  );

  test.each(['10.0.0.1', '10.0.0.0/33', '10/8', '10.0.0.0/', '::/129', 'fe80::%1/64', 'proxy', '', '1.2.3.4/-1'])(
    '%j is none',
    (text) => {
      expect(isCidr(text)).toBe(false);
    },
  );
});
