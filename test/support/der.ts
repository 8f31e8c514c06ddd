/** Just as much of X.690 (DER) as a certificate needs. */

export function tlv(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const digits = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...digits]), content]);
}

export const sequence = (...items: readonly Uint8Array[]) => tlv(0x30, ...items);
export const set = (...items: readonly Uint8Array[]) => tlv(0x31, ...items);
export const octets = (content: Uint8Array) => tlv(0x04, content);
export const bits = (content: Uint8Array) => tlv(0x03, Buffer.from([0]), content);
export const utf8 = (text: string) => tlv(0x0c, Buffer.from(text));
export const yes = tlv(0x01, Buffer.from([0xff]));
/** Not negative, in as few bytes as that takes (X.690 section 8.3). */
export const integer = (content: Uint8Array) => tlv(0x02, Buffer.from((content[0] ?? 0) < 0x80 ? [] : [0]), content);
export const explicit = (tag: number, content: Uint8Array) => tlv(0xa0 + tag, content);

export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return tlv(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

function base128(value: number): number[] {
  const digits = [value & 0x7f];
  for (let left = value >> 7; left > 0; left >>= 7) digits.unshift((left & 0x7f) | 0x80);
  return digits;
}

/** GeneralizedTime, whole seconds. */
export function time(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replaceAll(/[-:T]|\.\d+/g, '');
  return tlv(0x18, Buffer.from(digits));
}
