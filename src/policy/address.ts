import ipaddr from 'ipaddr.js';

type Address = ReturnType<typeof ipaddr.parse>;

/** A block of addresses, such as 10.0.0.0/8. */
type Cidr = readonly [Address, number];

/** Compiled blocks of addresses. */
export type Blocks = readonly Cidr[];

/** An IPv4 address mapped into IPv6 (RFC 4291, section 2.5.5.2) is taken for the IPv4 address everywhere here. */
const MAPPED_BITS = 96;
/** Groups of 16 bits that name a network of IPv6: whoever has one address of it has all 2^64 (RFC 4291, section 2.5.1). */
const NETWORK_PARTS = 4;

export function isCidr(text: string): boolean {
  return parseCidr(text) !== undefined;
}

/** Whether a block holds every address of its kind, IPv4 also as mapped into IPv6. */
export function coversAll(text: string): boolean {
  return parseCidr(text)?.[1] === 0;
}

/** What is no block of addresses is left out. */
export function blocksOf(texts: readonly string[]): Blocks {
  return texts.map(parseCidr).filter((block) => block !== undefined);
}

/**
 * Whose connection it is: the peer, unless it is a proxy that is believed. Then it is the rightmost address of
 * X-Forwarded-For that is none of these proxies; what is left of it, and of anything that is no address, anyone could have
 * written. The text is one spelling for each address, and empty where the peer has none (a Unix socket).
 */
export function clientAddress(peer: string | undefined, forwarded: string, trusted: Blocks): string {
  let client = parseAddress(peer ?? '');
  let end = forwarded.length;
  while (client !== undefined && isWithin(client, trusted) && end > 0) {
    const comma = forwarded.lastIndexOf(',', end - 1);
    const hop = parseHop(forwarded.slice(comma + 1, end).trim());
    if (hop === undefined) break;
    client = hop;
    end = Math.max(comma, 0);
  }
  return client === undefined ? '' : spelled(client);
}

/** Whether an address, as `clientAddress` spells it, is in one of the blocks. */
export function isTrusted(address: string, trusted: Blocks): boolean {
  const parsed = parseAddress(address);
  return parsed !== undefined && isWithin(parsed, trusted);
}

/** What limits per address count as one: an IPv4 address, a /64 of IPv6. */
export function addressKey(address: string): string {
  const parsed = parseAddress(address);
  if (!(parsed instanceof ipaddr.IPv6)) return address;
  const network = parsed.parts.slice(0, NETWORK_PARTS).map((part) => part.toString(16));
  return `${network.join(':')}::/64`;
}

function parseCidr(text: string): Cidr | undefined {
  const isRead = ipaddr.IPv4.isValidCIDRFourPartDecimal(text) || ipaddr.IPv6.isValidCIDR(text);
  if (!isRead || text.includes('%')) return undefined;
  const [address, bits] = ipaddr.parseCIDR(text);
  const plain = unmapped(address);
  const isMapped = plain.kind() !== address.kind() && bits >= MAPPED_BITS;
  return isMapped ? [plain, bits - MAPPED_BITS] : [address, bits];
}

function isWithin(address: Address, blocks: Blocks): boolean {
  return blocks.some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits));
}

/** As proxies write one: some append the port, and then IPv6 is in brackets. A zone means nothing on another machine. */
function parseHop(text: string): Address | undefined {
  const bracketed = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(text);
  const plain = bracketed?.[1] ?? /^([\d.]+):\d{1,5}$/.exec(text)?.[1] ?? text;
  return plain.includes('%') ? undefined : parseAddress(plain);
}

function parseAddress(text: string): Address | undefined {
  const [address = ''] = text.split('%');
  if (ipaddr.IPv4.isValidFourPartDecimal(address)) return ipaddr.IPv4.parse(address);
  return ipaddr.IPv6.isValid(address) ? unmapped(ipaddr.IPv6.parse(address)) : undefined;
}

function unmapped(address: Address): Address {
  return address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}

function spelled(address: Address): string {
  return address instanceof ipaddr.IPv6 ? address.toRFC5952String() : address.toString();
}
