import { expect, test } from 'vitest';
import type { Link } from '../../src/ports/link.ts';
import { Intake } from '../../src/session/intake.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { linkOf } from '../support/fake-link.ts';

const MIB = 1024 * 1024;

interface Pipe {
  backlog: number;
  untaken: number;
}

function piped(): { readonly pipe: Pipe; readonly link: Link } {
  const pipe = { backlog: 0, untaken: 0 };
  const link: Link = Object.defineProperties(linkOf('handshake'), {
    backlog: { get: () => pipe.backlog },
    untaken: { get: () => pipe.untaken },
  });
  return { pipe, link };
}

function opened() {
  const clock = fakeClock();
  const said: string[] = [];
  const connection = { pause: () => void said.push('pause'), resume: () => void said.push('resume') };
  return { clock, said, intake: new Intake({ connection, clock }) };
}

test('a client is paused over 1 MiB, once, and read again when half of that is left on each link', () => {
  const { clock, said, intake } = opened();
  const [one, two] = [piped(), piped()];
  one.pipe.backlog = 16 * 1024;
  intake.wrote(one.link);
  one.pipe.backlog = MIB;
  intake.wrote(one.link);
  expect(said).toEqual([]);
  for (const { pipe, link } of [one, two, one]) {
    pipe.backlog = MIB + 1;
    intake.wrote(link);
  }
  expect(said).toEqual(['pause']);
  one.pipe.backlog = MIB / 2;
  clock.advance(100);
  expect(said).toEqual(['pause']);
  two.pipe.backlog = MIB / 2;
  clock.advance(10);
  expect(said).toEqual(['pause', 'resume']);
});

test('a pipe that moves is waited for, slowly as it does; one that stands still for a second is not, until it has drained', () => {
  const { clock, said, intake } = opened();
  const { pipe, link } = piped();
  pipe.backlog = pipe.untaken = 4 * MIB;
  intake.wrote(link);
  for (let n = 0; n < 8; n += 1) {
    clock.advance(900);
    pipe.untaken -= 1;
  }
  clock.advance(900);
  expect(said).toEqual(['pause']);
  clock.advance(200);
  expect(said).toEqual(['pause', 'resume']);
  intake.wrote(link);
  clock.advance(5000);
  expect(said).toEqual(['pause', 'resume']);
  pipe.backlog = MIB;
  intake.wrote(link);
  pipe.backlog = 2 * MIB;
  intake.wrote(link);
  expect(said).toEqual(['pause', 'resume', 'pause']);
});

test('no pause is longer than 10 s, whatever moves, and none follows before the pipe has drained', () => {
  const { clock, said, intake } = opened();
  const { pipe, link } = piped();
  pipe.backlog = pipe.untaken = 4 * MIB;
  intake.wrote(link);
  const trickle = (seconds: number) => {
    for (let n = 0; n < seconds * 2; n += 1) {
      pipe.untaken -= 1;
      clock.advance(500);
    }
  };
  trickle(9.5);
  expect(said).toEqual(['pause']);
  trickle(1);
  intake.wrote(link);
  trickle(30);
  expect(said).toEqual(['pause', 'resume']);
});

/** One whose client was paused for a second and is read again. */
function stuck() {
  const at = opened();
  const { pipe, link } = piped();
  const write = (bytes: number) => {
    pipe.backlog = pipe.untaken = bytes;
    at.intake.wrote(link);
  };
  write(4 * MIB);
  at.clock.advance(1000);
  return { ...at, pipe, write };
}

test('a pipe that has drained after it stood still is waited for again, be the next message the first that is seen', () => {
  const { clock, said, pipe, write } = stuck();
  pipe.backlog = 0;
  clock.advance(100);
  write(2 * MIB);
  expect(said).toEqual(['pause', 'resume', 'pause']);
});

test('or a small one before it', () => {
  const { said, write } = stuck();
  write(10);
  write(2 * MIB);
  expect(said).toEqual(['pause', 'resume', 'pause']);
});

test('nothing is looked at once the session is over', () => {
  const { clock, said, intake } = opened();
  const { pipe, link } = piped();
  pipe.backlog = 2 * MIB;
  intake.wrote(link);
  intake.close();
  pipe.backlog = 0;
  clock.advance(5000);
  expect(said).toEqual(['pause']);
});
