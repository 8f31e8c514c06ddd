/** How the content stands behind its expiry: UTF-16 where UTF-8 would not give it back, as with half a surrogate pair. */
const UTF8 = 0;
const UTF16 = 1;

/** The expiry as a double, the encoding, the content. */
const HEAD_BYTES = 9;

/** The bytes that are sealed: the content and when it expires, in epoch milliseconds. */
export function packed(content: string, expiresAt: number): Buffer {
  const utf8 = Buffer.from(content, 'utf8');
  const exact = utf8.toString('utf8') === content;
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeDoubleBE(expiresAt);
  head.writeUInt8(exact ? UTF8 : UTF16, HEAD_BYTES - 1);
  return Buffer.concat([head, exact ? utf8 : Buffer.from(content, 'utf16le')]);
}

/** The inverse of `packed`, for bytes whose seal held: nothing else is ever given. */
export function unpacked(bytes: Buffer): { readonly content: string; readonly expiresAt: number } {
  const encoding = bytes.readUInt8(HEAD_BYTES - 1) === UTF8 ? 'utf8' : 'utf16le';
  return { expiresAt: bytes.readDoubleBE(), content: bytes.subarray(HEAD_BYTES).toString(encoding) };
}
