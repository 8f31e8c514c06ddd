import { connect } from 'node:net';
import type { Random } from '../trial/random.ts';
import { upgradeLines } from '../trial/socket.ts';
import { RESOURCE } from '../trial/tokens.ts';

/** Tokens of all kinds: `good` ones and others that must open nothing. */
export interface Tokens {
  readonly good: string;
  readonly bad: readonly string[];
}

export interface UpgradeMutant {
  readonly name: string;
  readonly bytes: Buffer;
  /** Whether whatever happens, it must not be upgraded. */
  readonly refused: boolean;
  /** Whether it is cut short, so that nothing need be answered. */
  readonly isHalf: boolean;
}

type Make = (lines: string[], tokens: Tokens, random: Random) => boolean;

/** Change the lines of a valid upgrade; true where it must then be refused. */
const MAKERS: Readonly<Record<string, Make>> = {
  'as it should be': () => false,
  'header left out': (lines, _tokens, random) => {
    const [gone = ''] = lines.splice(1 + random.int(lines.length - 1), 1);
    return !gone.startsWith('Sec-WebSocket-Protocol');
  },
  'header twice': (lines, _tokens, random) => {
    const twice = lines[1 + random.int(lines.length - 1)] ?? '';
    lines.push(twice);
    return twice.startsWith('Authorization');
  },
  'header with rubbish': (lines, _tokens, random) => {
    const at = 1 + random.int(lines.length - 1);
    const [name] = (lines[at] ?? '').split(':');
    const value = random
      .bytes(random.int(40))
      .toString('latin1')
      .replaceAll(/[\r\n]/g, '');
    lines[at] = `${name}: ${value}`;
    return false;
  },
  'header unknown': (lines, _tokens, random) => {
    const more = [
      'X-Forwarded-For: 1.2.3.4',
      'Via: x',
      'Content-Length: 5',
      'Transfer-Encoding: chunked',
      'Expect: 100-continue',
    ];
    const others = [
      'Cookie: a=b',
      ' folded',
      'no colon',
      ': empty',
      'Sec-WebSocket-Extensions: permessage-deflate; x=1',
      'Upgrade: h2c',
    ];
    lines.push(random.oneOf([...more, ...others]) ?? '');
    return false;
  },
  host: (lines, _tokens, random) => {
    replace(lines, 'Host', random.pick('evil.example', 'localhost.evil.example:80', '[::1', '127.0.0.1@evil', '*'));
    return true;
  },
  origin: (lines, _tokens, random) => {
    lines.push(`Origin: ${random.pick('null', 'https://evil.example', 'https://trial.example', 'file://', '')}`);
    return true;
  },
  subprotocol: (lines, _tokens, random) => {
    const [offer, refused] = random.pick<[string, boolean]>(
      ['MCP', true],
      ['mcp, other', false],
      ['other', true],
      [',', true],
      ['mcp,mcp', true],
    );
    replace(lines, 'Sec-WebSocket-Protocol', offer);
    return refused;
  },
  'token in the subprotocol': (lines, { good, bad }, random) => {
    const isGood = random.chance(0.5);
    replace(lines, 'Sec-WebSocket-Protocol', `mcp, mcp.auth.${isGood ? good : random.oneOf(bad)}`);
    const keeps = random.chance(0.3);
    if (!keeps) remove(lines, 'Authorization');
    return keeps || !isGood;
  },
  'another token': (lines, { bad }, random) => {
    replace(lines, 'Authorization', `${random.pick('Bearer', 'bearer', 'Basic', '')} ${random.oneOf(bad)}`);
    return true;
  },
  'token changed': (lines, { good }, random) => {
    // Not the last character: some of its bits stand for nothing.
    const at = random.int(good.length - 1);
    replace(
      lines,
      'Authorization',
      `Bearer ${good.slice(0, at)}${random.pick('_', '.', 'é', '')}${good.slice(at + 1)}`,
    );
    return false;
  },
  query: (lines, { good }, random) => {
    const key = random.pick('token', 'access_token', 'JWT', 'to%6ben');
    lines[0] = `GET /mcp?${key}=${random.pick('x', good)} HTTP/1.1`;
    return true;
  },
  path: (lines, _tokens, random) => {
    const path = random.pick(
      '/',
      '/mcp/',
      '/MCP',
      '//mcp',
      '/mcp%2f',
      '/%',
      '/mcp/../x',
      `/${'a'.repeat(9000)}`,
      '*',
      'http://x/y',
    );
    lines[0] = `GET ${path} HTTP/1.1`;
    return true;
  },
  method: (lines, _tokens, random) => {
    lines[0] = `${random.pick('POST', 'PUT', 'HEAD', 'OPTIONS', 'CONNECT', 'TRACE', 'get', 'PRI', 'G E T')} /mcp HTTP/1.1`;
    return true;
  },
  'version of HTTP': (lines, _tokens, random) => {
    lines[0] = `GET /mcp ${random.pick('HTTP/1.0', 'HTTP/0.9', 'HTTP/2.0', 'HTTP/9.9', '')}`;
    return false;
  },
  'version of WebSocket': (lines, _tokens, random) => {
    replace(lines, 'Sec-WebSocket-Version', random.pick('7', '14', 'x', '-13', ''));
    return true;
  },
  key: (lines, _tokens, random) => {
    replace(lines, 'Sec-WebSocket-Key', random.pick('', 'x', 'AAAA', '!'.repeat(24), 'A'.repeat(3000)));
    return true;
  },
  'huge header': (lines, _tokens, random) => {
    lines.push(`X-Huge: ${'h'.repeat(random.pick(40_000, 100_000))}`);
    return true;
  },
  'many headers': (lines) => {
    for (let at = 0; at < 500; at += 1) lines.push(`X-${at}: 1`);
    return false;
  },
  'not an upgrade': (lines, _tokens, random) => {
    remove(lines, 'Upgrade');
    lines[0] = `GET ${random.pick('/mcp', '/', '/.well-known/oauth-protected-resource/mcp')} HTTP/1.1`;
    return true;
  },
};

export function mutateUpgrade(port: number, tokens: Tokens, random: Random): UpgradeMutant {
  const lines = upgradeLines(port, tokens.good);
  const name = random.oneOf(Object.keys(MAKERS)) ?? '';
  const refused = MAKERS[name]?.(lines, tokens, random) ?? false;
  const bytes = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  if (random.chance(0.06))
    return { name: 'half a request', bytes: bytes.subarray(0, random.int(bytes.length)), refused: true, isHalf: true };
  if (random.chance(0.06))
    return { name: 'rubbish', bytes: random.bytes(1 + random.int(300)), refused: true, isHalf: true };
  if (random.chance(0.08)) {
    for (let changes = 3; changes > 0; changes -= 1) bytes[random.int(bytes.length)] = random.int(256);
    return { name: 'bytes changed', bytes, refused: false, isHalf: true };
  }
  return { name, bytes, refused, isHalf: false };
}

/** Statuses an upgrade may be answered with, 100 where changed bytes ask for it; 500 is none of them. */
const STATUSES = new Set([100, 101, 200, 400, 401, 403, 404, 405, 408, 413, 417, 426, 429, 431, 503]);
const PATIENCE = 15_000;

/** Sends one and says what is wrong with what came of it, if anything is. `cut` ends it before its answer. */
export function tryUpgrade(port: number, mutant: UpgradeMutant, cut: boolean): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let head = '';
    const timer = setTimeout(() => end(mutant.isHalf ? undefined : 'no answer'), mutant.isHalf ? 30 : PATIENCE);
    const end = (fault: string | undefined) => {
      clearTimeout(timer);
      resolve(fault);
      socket.destroy();
    };
    socket.on('error', () => {});
    socket.once('close', () => end(mutant.isHalf || head !== '' ? undefined : cutFault(mutant)));
    socket.on('data', (chunk: Buffer) => {
      head += chunk.toString('latin1');
      if (head.includes('\r\n\r\n')) end(verdict(head, mutant));
    });
    socket.once('connect', () => socket.write(mutant.bytes, () => cut && setImmediate(() => end(undefined))));
  });
}

/** Node answers what it cannot parse, then ends the socket; a reset may overtake the answer. */
function cutFault({ name }: UpgradeMutant): string | undefined {
  return name === 'as it should be' ? 'ended without an answer' : undefined;
}

function verdict(head: string, { name, refused }: UpgradeMutant): string | undefined {
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1]);
  if (!STATUSES.has(status)) return `answered ${head.slice(0, 60)}`;
  if (refused && status === 101) return 'upgraded, and must not be';
  return name === 'as it should be' && status !== 101 && !isBusy(head) ? `answered ${status}` : undefined;
}

/** The gateway refuses while its event loop lags, which on a busy machine it does. */
function isBusy(head: string): boolean {
  return /^HTTP\/1\.1 503 /.test(head) && /\r\nretry-after: /i.test(head);
}

function replace(lines: string[], name: string, value: string): void {
  const at = lines.findIndex((line) => line.startsWith(`${name}:`));
  lines[at] = `${name}: ${value}`;
}

function remove(lines: string[], name: string): void {
  const at = lines.findIndex((line) => line.startsWith(`${name}:`));
  lines.splice(at, 1);
}

/** The audience of nobody here. */
export const ELSEWHERE = `${RESOURCE}/elsewhere`;
