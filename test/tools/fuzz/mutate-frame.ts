import { isUtf8 } from 'node:buffer';
import { encodeFrame as frame, OPCODES, xor } from '../trial/frames.ts';
import type { Random } from '../trial/random.ts';

/** What is written, and what is to come of it: a message, nothing, or the end of the socket. */
export interface FrameMutant {
  readonly name: string;
  readonly bytes: Buffer;
  /** The text the gateway is to read. */
  readonly text?: string;
  readonly ends?: boolean;
}

type Make = (payload: Buffer, random: Random) => Omit<FrameMutant, 'name'>;

const ending = (bytes: Buffer) => ({ bytes, ends: true });

const MAKERS: Readonly<Record<string, Make>> = {
  fragments: (payload, random) => ({ bytes: fragmented(payload, random), text: payload.toString() }),
  'length in more bytes than needed': (payload, random) => ({
    bytes: frame(payload, { lengthBytes: random.pick(2, 8) }),
    text: payload.toString(),
  }),
  'ping or pong': (_payload, random) => ({
    bytes: frame(random.bytes(random.int(126)), { opcode: random.pick(OPCODES.ping, OPCODES.pong) }),
  }),
  'mask that was not used': (payload, random) => {
    const wrongMask = random.bytes(4);
    const used = random.bytes(4);
    const read = xor(xor(payload, used), wrongMask);
    const bytes = Buffer.concat([frame(payload, { wrongMask }).subarray(0, -payload.length), xor(payload, used)]);
    return isUtf8(read) ? { bytes, text: read.toString() } : ending(bytes);
  },
  'bad UTF-8': (payload, random) => {
    const bad = Buffer.concat([
      payload,
      random.pick(Buffer.from([0xff]), Buffer.from([0xc0, 0x80]), Buffer.from([0xed, 0xa0, 0x80])),
    ]);
    return ending(frame(bad, {}));
  },
  binary: (payload) => ending(frame(payload, { opcode: OPCODES.binary })),
  'reserved bits': (payload, random) => ending(frame(payload, { reserved: random.pick(0x40, 0x20, 0x10, 0x70) })),
  unmasked: (payload) => ending(frame(payload, { masked: false })),
  'unknown opcode': (payload, random) => ending(frame(payload, { opcode: random.pick(3, 7, 11, 15) })),
  'continuation of nothing': (payload) => ending(frame(payload, { opcode: OPCODES.continuation })),
  'message inside a message': (payload) => ending(Buffer.concat([frame(payload, { fin: false }), frame(payload, {})])),
  'long control frame': (_payload, random) =>
    ending(frame(random.bytes(126), { opcode: random.pick(OPCODES.ping, OPCODES.close) })),
  'control frame in fragments': (payload) =>
    ending(frame(payload.subarray(0, 20), { opcode: OPCODES.ping, fin: false })),
  'oversized length': (payload, random) =>
    ending(frame(payload, { length: random.pick(2n ** 31n, 2n ** 53n, 2n ** 63n, 600_000n) })),
  'oversized message': (_payload, random) =>
    ending(frame(Buffer.alloc(524_289, 0x20), random.chance(0.5) ? {} : { fin: false })),
  'close with rubbish': (_payload, random) => {
    const payloads = [
      Buffer.from([3]),
      Buffer.from([0, 0]),
      Buffer.from([3, 0xed]),
      Buffer.from([3, 0xe8, 0xff]),
      Buffer.from([0xff, 0xff]),
    ];
    return ending(frame(random.oneOf(payloads) ?? Buffer.alloc(0), { opcode: OPCODES.close }));
  },
  close: (_payload, random) => {
    const code = Buffer.alloc(2);
    code.writeUInt16BE(random.pick(1000, 1001, 1009, 3000, 4999));
    return ending(frame(Buffer.concat([code, Buffer.from('bye')]), { opcode: OPCODES.close }));
  },
};

/** Those after which a socket goes on, mostly. */
const QUIET = ['fragments', 'length in more bytes than needed', 'ping or pong', 'mask that was not used'] as const;

/** A message in a frame that is unusual, or is none. */
export function mutateFrame(text: string, random: Random): FrameMutant {
  const quiet = random.chance(0.6);
  const names = Object.keys(MAKERS);
  const name = quiet ? random.pick(...QUIET) : (random.oneOf(names) ?? 'fragments');
  const make = MAKERS[name] ?? (() => ending(Buffer.alloc(1)));
  return { name, ...make(Buffer.from(text), random) };
}

function fragmented(payload: Buffer, random: Random): Buffer {
  const parts: Buffer[] = [];
  let from = 0;
  while (from < payload.length || parts.length === 0) {
    const to = random.chance(0.1) ? from : Math.min(payload.length, from + 1 + random.int(payload.length));
    const opcode = parts.length === 0 ? OPCODES.text : OPCODES.continuation;
    parts.push(frame(payload.subarray(from, to), { opcode, fin: false }));
    if (random.chance(0.3)) parts.push(frame(random.bytes(3), { opcode: OPCODES.ping }));
    from = to;
  }
  parts.push(frame(Buffer.alloc(0), { opcode: OPCODES.continuation }));
  return Buffer.concat(parts);
}
