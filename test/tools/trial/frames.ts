import { randomBytes } from 'node:crypto';

export const OPCODES = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

/** How one frame is written (RFC 6455 section 5.2); what is left out is as it should be. */
export interface FrameParts {
  readonly opcode?: number;
  readonly fin?: boolean;
  /** The three reserved bits, as they stand in the first byte. */
  readonly reserved?: number;
  readonly masked?: boolean;
  /** The mask that is written, where it is not the one that was used. */
  readonly wrongMask?: Buffer;
  /** The length that is written, where it is not that of the payload. */
  readonly length?: bigint;
  /** The least number of bytes its length is written in, whatever would do. */
  readonly lengthBytes?: 2 | 8;
}

export function encodeFrame(payload: Buffer, parts: FrameParts = {}): Buffer {
  const { opcode = OPCODES.text, fin = true, reserved = 0, masked = true } = parts;
  const length = parts.length ?? BigInt(payload.length);
  const extended = Math.max(parts.lengthBytes ?? 0, length > 65_535n ? 8 : length > 125n ? 2 : 0);
  const head = Buffer.alloc(2 + extended);
  head[0] = (fin ? 0x80 : 0) | reserved | opcode;
  head[1] = (masked ? 0x80 : 0) | (extended === 8 ? 127 : extended === 2 ? 126 : Number(length));
  if (extended === 8) head.writeBigUInt64BE(length, 2);
  if (extended === 2) head.writeUInt16BE(Number(length), 2);
  if (!masked) return Buffer.concat([head, payload]);
  const mask = randomBytes(4);
  return Buffer.concat([head, parts.wrongMask ?? mask, xor(payload, mask)]);
}

export function xor(payload: Buffer, mask: Buffer): Buffer {
  const out = Buffer.from(payload);
  for (let at = 0; at < out.length; at += 1) out[at] = (out[at] ?? 0) ^ (mask[at % 4] ?? 0);
  return out;
}

export interface ReadFrame {
  readonly opcode: number;
  readonly payload: Buffer;
}

/** Reads what a server writes: whole, unmasked frames, of which the gateway fragments none. */
export class FrameReader {
  private waiting: Buffer = Buffer.alloc(0);

  push(chunk: Buffer): ReadFrame[] {
    this.waiting = this.waiting.length === 0 ? chunk : Buffer.concat([this.waiting, chunk]);
    const frames: ReadFrame[] = [];
    for (let frame = this.next(); frame !== undefined; frame = this.next()) frames.push(frame);
    return frames;
  }

  private next(): ReadFrame | undefined {
    const { waiting } = this;
    if (waiting.length < 2) return undefined;
    const short = (waiting[1] ?? 0) & 0x7f;
    const start = short === 127 ? 10 : short === 126 ? 4 : 2;
    if (waiting.length < start) return undefined;
    const length = short === 127 ? Number(waiting.readBigUInt64BE(2)) : short === 126 ? waiting.readUInt16BE(2) : short;
    if (waiting.length < start + length) return undefined;
    this.waiting = waiting.subarray(start + length);
    return { opcode: (waiting[0] ?? 0) & 0x0f, payload: waiting.subarray(start, start + length) };
  }
}
