import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fileGateway, recordFile } from '../support/file-gateway.ts';
import { stdioUpstream } from '../support/gateway.ts';
import { toolCall } from '../support/messages.ts';
import { openRaw } from '../support/raw-client.ts';
import { smugglingCorpus } from '../support/smuggling-corpus.ts';

const shared = { isolation: 'shared' };
const records = { sdk: recordFile(), universal: recordFile(), splitlines: recordFile() };
const python = (way: 'universal' | 'splitlines') => ({
  command: 'python3',
  args: ['test/support/upstreams/reader.py', records[way].path, way],
  cwd: process.cwd(),
  ...shared,
});
const gateway = fileGateway({
  policy: [{ allow: { tools: ['**'] } }, { deny: { tools: ['*/forbidden'] } }],
  mcpServers: {
    sdk: stdioUpstream('recording-sdk.mjs', [records.sdk.path], shared),
    universal: python('universal'),
    splitlines: python('splitlines'),
  },
});
type Reader = keyof typeof records;
const READERS: readonly Reader[] = ['sdk', 'universal', 'splitlines'];

/** What an upstream did because of one frame: the lines it read and the tools it ran. */
interface Effect {
  readonly lines: readonly string[];
  readonly ran: readonly string[];
}

/** Sends a frame and then a call that every upstream runs last; what lies before that is the frame's doing. On a socket of its own: many malformed frames end one. */
async function effectOf(reader: Reader, frame: string): Promise<Effect> {
  const client = await openRaw(gateway().url);
  const before = records[reader].lines().length;
  client.send(frame);
  client.send(toolCall('sentinel', `${reader}__allowed`));
  while (!/"id": ?"sentinel"/.test(await client.next()));
  const entries = records[reader]
    .lines()
    .slice(before)
    .map((line) => JSON.parse(line));
  const lines = entries.flatMap(({ line }) => line ?? []);
  const ran = entries.flatMap(({ ran }) => ran ?? []);
  return { lines: lines.slice(0, -1), ran: ran.slice(0, -1) };
}

const corpusOf = (reader: Reader) => smugglingCorpus(`${reader}__allowed`, `${reader}__forbidden`, 'forbidden');

describe.each(READERS)('before the upstream %s', (reader) => {
  test('the allowed tool runs and the frame is one line', async () => {
    const { lines, ran } = await effectOf(reader, JSON.stringify(toolCall(1, `${reader}__allowed`)));
    expect([lines.length, ran]).toEqual([1, ['allowed']]);
  });

  test('no frame of the corpus runs the forbidden tool or is more than one line', async () => {
    const guilty = [];
    for (const { title, frame } of corpusOf(reader)) {
      const { lines, ran } = await effectOf(reader, frame);
      if (lines.length > 1 || ran.includes('forbidden')) guilty.push({ title, lines, ran });
    }
    expect(guilty).toEqual([]);
  });
});

describe('a frame that has been changed at random', () => {
  const pieces = fc.constantFrom(
    ...['\r', '\n', '\u2028', '\u0085', '"', '\\', '\\u000a', '{', '}', '[', ']', ',', ':', ' ', '\0', 'null', '1'],
    ...[',"name":"forbidden"', '"Name":"forbidden",', '}\n{', '\n{"jsonrpc":"2.0","id":9,"method":"tools/call"}\n'],
  );
  const change = fc.record({ at: fc.double({ min: 0, max: 1, noNaN: true }), cut: fc.nat(3), piece: pieces });
  const changed = (frame: string, changes: readonly { at: number; cut: number; piece: string }[]) =>
    changes.reduce((text, { at, cut, piece }) => {
      const place = Math.floor(at * text.length);
      return text.slice(0, place) + piece + text.slice(place + cut);
    }, frame);

  test('is at most one line to a reader of lines and runs nothing forbidden', async () => {
    const frames = fc.constantFrom(...corpusOf('splitlines').filter(({ frame }) => frame.length < 400));
    const property = fc.asyncProperty(
      frames,
      fc.array(change, { minLength: 1, maxLength: 4 }),
      async (base, changes) => {
        const { lines, ran } = await effectOf('splitlines', changed(base.frame, changes));
        expect(lines.length).toBeLessThanOrEqual(1);
        expect(ran).not.toContain('forbidden');
      },
    );
    await fc.assert(property, { numRuns: 300 });
  });
});
