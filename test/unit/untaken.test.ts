import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { taken, untaken } from '../../src/transport/untaken.ts';

test('where the handle tells nothing, what is queued is no sign that something has gone', () => {
  const figures = { bytesWritten: 1000, writableLength: 400 };
  const stream: Socket = Object.defineProperties(new Socket(), {
    bytesWritten: { get: () => figures.bytesWritten },
    writableLength: { get: () => figures.writableLength },
  });
  const before = taken(stream);
  figures.bytesWritten += 100;
  figures.writableLength += 100;
  expect([taken(stream), untaken(stream)]).toEqual([before, 500]);
  figures.writableLength -= 400;
  expect(taken(stream)).not.toBe(before);
});
