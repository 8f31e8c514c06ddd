import { expect, test } from 'vitest';
import type { Link, LinkEvents } from '../../src/ports/link.ts';
import { OwnLinks } from '../../src/upstream/own-links.ts';
import { linkOf } from '../support/fake-link.ts';

const UNHEARD: LinkEvents = { listChanged() {}, updated() {}, logged() {}, closed() {} };

/** Opens a link of this session; `end` is its end, whoever ended it. */
async function open(own: OwnLinks, session: string, name: string, said: string[], resumed = () => {}) {
  const link: Link = {
    ...linkOf('handshake'),
    backlog: 10,
    pause: () => void said.push(`pause ${name}`),
    resume() {
      said.push(`resume ${name}`);
      resumed();
    },
  };
  const heard: LinkEvents[] = [];
  const events = { ...UNHEARD, closed: () => void said.push(`closed ${name}`) };
  await own.open({ session, events }, async (wrapped) => {
    heard.push(wrapped);
    return link;
  });
  return { end: (again = false) => heard[0]?.closed(undefined, again) };
}

test('a pause is for the links of one session, those to come included', async () => {
  const own = new OwnLinks();
  const said: string[] = [];
  for (const [session, name] of [
    ['a', '1'],
    ['a', '2'],
    ['b', '3'],
  ] as const)
    await open(own, session, name, said);
  own.pause('a');
  await open(own, 'a', '4', said);
  await open(own, 'b', '5', said);
  expect(said.splice(0)).toEqual(['pause 1', 'pause 2', 'pause 4']);
  own.resume('a');
  await open(own, 'a', '6', said);
  expect(said).toEqual(['resume 1', 'resume 2', 'resume 4']);
});

test('a link that ends counts no more, and one that its peer forgot goes on with what is under way', async () => {
  const own = new OwnLinks();
  const said: string[] = [];
  const [first, second] = [await open(own, 'a', '1', said), await open(own, 'a', '2', said)];
  own.pause('a');
  expect([...own.backlogs()]).toEqual([
    ['a', 10],
    ['a', 10],
  ]);
  first.end(true);
  second.end();
  expect(said.slice(2)).toEqual(['resume 1', 'closed 1', 'resume 2', 'closed 2']);
  expect([...own.backlogs()]).toEqual([]);
});

test('what the first link brings when it goes on may stop the others before they do', async () => {
  const own = new OwnLinks();
  const said: string[] = [];
  await open(own, 'a', '1', said, () => own.pause('a'));
  await open(own, 'a', '2', said);
  own.pause('a');
  own.resume('a');
  expect(said).toEqual(['pause 1', 'pause 2', 'resume 1', 'pause 1', 'pause 2']);
});

test('a pause ends with its session', async () => {
  const own = new OwnLinks();
  const said: string[] = [];
  await open(own, 'a', '1', said);
  own.pause('a');
  own.release('a');
  await open(own, 'a', '2', said);
  expect(said).toEqual(['pause 1']);
});
