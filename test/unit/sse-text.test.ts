import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Cursor, readEvents } from '../../src/upstream/sse-text.ts';

/** Reads these chunks as one stream: what was heard, how it ended, where the cursor stands. */
async function read(chunks: readonly Buffer[], max: number) {
  const stream = new PassThrough();
  const cursor: Cursor = { lastEventId: undefined, retryMs: undefined };
  const texts: string[] = [];
  const ended = new Promise<string>((over) => {
    readEvents(stream as unknown as IncomingMessage, max, cursor, { message: (text) => texts.push(text), over });
  });
  for (const chunk of chunks) stream.write(chunk);
  stream.end();
  return { texts, ended: await ended, cursor };
}

function cutAt(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const edges = [0, ...cuts.map((cut) => cut % bytes.length).sort((a, b) => a - b), bytes.length];
  return edges.slice(1).map((edge, n) => bytes.subarray(edges[n], edge));
}

const lines = fc.array(
  fc.string({ unit: 'binary' }).map((text) => text.replace(/[\r\n\0]/g, '.')),
  { minLength: 1 },
);

test('any events in any chunks, under any line ending, are the events that were written', async () => {
  const story = fc.record({
    events: fc.array(lines, { maxLength: 8 }),
    ending: fc.constantFrom('\n', '\r\n', '\r'),
    cuts: fc.array(fc.nat(), { maxLength: 12 }),
  });
  const holds = fc.asyncProperty(story, async ({ events, ending, cuts }) => {
    const written = events.map((data) => `${data.map((line) => `data: ${line}`).join(ending)}${ending}${ending}`);
    // A comment at the end: a last CR alone might still become CR LF.
    const bytes = Buffer.from(`${written.join('')}: end${ending}`);
    const { texts, ended } = await read(cutAt(bytes, cuts), 1_000_000);
    expect(texts).toEqual(events.map((data) => data.join('\n')).filter((text) => text !== ''));
    expect(ended).toBe('ended');
  });
  await fc.assert(holds);
});

test.each([
  ['exactly the limit', '€'.repeat(10), 30, [['€'.repeat(10)], 'ended']],
  ['one byte over', '€'.repeat(10), 29, [[], 'too_large']],
])('the limit counts bytes: %s', async (_name, text, max, expected) => {
  const { texts, ended } = await read([Buffer.from(`data: ${text}\n\n`)], max);
  expect([texts, ended]).toEqual(expected);
});

test('the cursor holds the last id that can stand in a header, and the wait asked for', async () => {
  const stand = async (text: string) => (await read([Buffer.from(text)], 100)).cursor;
  expect(await stand('id: a\nretry: 12\ndata: \n\nid: b\ndata: x\n\ndata: y\n\n')).toEqual({
    lastEventId: 'b',
    retryMs: 12,
  });
  expect(await stand('id: a\ndata: x\n\nid: é\ndata: x\n\n')).toEqual({ lastEventId: undefined, retryMs: undefined });
  expect(await stand('id: a\ndata: x\n\nid: b\ndata: cut off')).toEqual({ lastEventId: 'a', retryMs: undefined });
});
