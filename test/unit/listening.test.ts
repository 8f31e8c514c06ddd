import { describe, expect, test } from 'vitest';
import { type Notification, readMessage } from '../../src/protocol/envelope.ts';
import { AnsweredError, Fault } from '../../src/protocol/errors.ts';
import type { ListenKind } from '../../src/protocol/listen.ts';
import { Listening } from '../../src/upstream/listening.ts';
import { watchedClock } from '../support/heard-channel.ts';
import { recordedLog } from '../support/recorded.ts';

const ONE = 'note://one';
const PATIENCE = 120_000;

/** A listening whose line is in the test's hand: each listen it opens, and how to end it. `apart`: each has its own stream. */
function listening(apart = false) {
  const clock = watchedClock();
  const opened: { id: number; params: string; ended: (error?: Error) => void }[] = [];
  const withdrawn: number[] = [];
  const told: string[] = [];
  const one = new Listening({
    line: {
      stand(_method, params, ended) {
        const id = opened.length + 1;
        opened.push({ id, params, ended });
        return id;
      },
      withdraw: (id) => void withdrawn.push(id),
      retire(id) {
        withdrawn.push(id);
        return apart;
      },
      wasGiven: (id) => withdrawn.includes(Number(id)),
      unexpected: (kind) => void told.push(kind),
    },
    events: { listChanged: (kind) => void told.push(kind), updated: (uri) => void told.push(uri) },
    clock,
    random: () => 1,
    log: recordedLog(),
    patience: PATIENCE,
  });
  const acknowledge = (notifications: object) => {
    const id = opened.at(-1)?.id;
    one.acknowledged(notice('notifications/subscriptions/acknowledged', id, { notifications }));
  };
  return { one, clock, opened, withdrawn, told, acknowledge };
}

function notice(method: string, id: number | undefined, params: object): Notification {
  const _meta = { 'io.modelcontextprotocol/subscriptionId': id };
  const message = readMessage(JSON.stringify({ jsonrpc: '2.0', method, params: { ...params, _meta } }), 100);
  if (message.kind !== 'notification') throw new Error(message.kind);
  return message;
}

const error = (code: number) => new AnsweredError({ code, message: 'no' });
const turn = () => new Promise<void>((resolve) => queueMicrotask(resolve));

test('all that is wanted in one turn is one listen', async () => {
  const { one, opened, acknowledge } = listening();
  const heard = [one.subscribe(ONE), one.subscribe('note://two'), one.subscribe(ONE)];
  await turn();
  expect(opened.map(({ params }) => params)).toEqual([
    '{"notifications":{"resourceSubscriptions":["note://one","note://two"]}}',
  ]);
  acknowledge({ resourceSubscriptions: [ONE, 'note://two'] });
  await Promise.all(heard);
});

test('an upstream that never acknowledges costs its patience: who waits hears of a timeout, the listen is ended', async () => {
  const { one, clock, withdrawn } = listening();
  const heard = one.subscribe(ONE);
  await turn();
  expect(clock.waits()).toEqual([PATIENCE]);
  clock.advance(PATIENCE);
  await expect(heard).rejects.toMatchObject({ reason: 'timeout' });
  expect(withdrawn).toEqual([1]);
});

test('acknowledged, a listen waits for nothing', async () => {
  const { one, clock, acknowledge } = listening();
  const heard = one.subscribe(ONE);
  await turn();
  acknowledge({ resourceSubscriptions: [ONE] });
  await heard;
  expect(clock.waits()).toEqual([]);
});

test.each<[string, () => Error | undefined, number[]]>([
  ['by an error', () => error(-32603), [500]],
  ['by a fault', () => new Fault('upstream_unavailable'), [500]],
  ['by its result', () => undefined, [500]],
  ['as a method it does not know', () => error(-32601), []],
])('a listen for lists that is refused %s is opened anew after %j', async (_how, failure, waits) => {
  const { one, clock, opened } = listening();
  const ready = one.hearLists(['tools']);
  opened[0]?.ended(failure());
  await ready;
  expect(clock.waits()).toEqual(waits);
});

test('one that is ended again and again is opened ever more rarely, until it has lived', async () => {
  const { one, clock, opened, acknowledge } = listening();
  const ready = one.hearLists(['tools']);
  acknowledge({ toolsListChanged: true });
  await ready;
  const waits = [];
  for (const lived of [0, 0, 0, 10_000]) {
    clock.advance(lived);
    opened.at(-1)?.ended();
    waits.push(...clock.waits());
    clock.advance(clock.waits()[0] ?? 0);
    acknowledge({ toolsListChanged: true });
  }
  expect(waits).toEqual([500, 1000, 2000, 500]);
});

test('a first acknowledgement may come late: the link does not wait, and the lists are read anew then', async () => {
  const { one, clock, told, acknowledge } = listening();
  const kinds: ListenKind[] = ['tools', 'resources'];
  const ready = one.hearLists(kinds);
  clock.advance(1000);
  await ready;
  expect(told).toEqual([]);
  acknowledge({ toolsListChanged: true });
  expect(told).toEqual(['tools']);
});

test('a kind of list that was not asked for is nobody’s, like a notice before the acknowledgement', async () => {
  const { one, told, acknowledge } = listening();
  void one.hearLists(['tools']);
  const changed = (kind: string) => one.notice(notice(`notifications/${kind}/list_changed`, 1, {}));
  changed('tools');
  acknowledge({ toolsListChanged: true, promptsListChanged: true });
  changed('prompts');
  changed('tools');
  expect(told).toEqual(['unknown', 'unknown', 'tools']);
});

test('closed while it waits to listen anew, it waits no longer', async () => {
  const { one, clock, opened } = listening();
  const ready = one.hearLists(['tools']);
  opened[0]?.ended();
  await ready;
  one.close();
  expect(clock.waits()).toEqual([]);
});

test('closed, it leaves nothing: no timer, nobody who waits, nothing opened', async () => {
  const { one, clock, opened } = listening();
  const ready = one.hearLists(['tools']);
  const heard = one.subscribe(ONE);
  one.close();
  await ready;
  await expect(heard).rejects.toMatchObject({ reason: 'upstream_closed' });
  await expect(one.subscribe(ONE)).rejects.toMatchObject({ reason: 'upstream_closed' });
  opened[0]?.ended(new Fault('upstream_closed'));
  await turn();
  expect([clock.waits(), opened.length]).toEqual([[], 1]);
});

describe('what is read of a listen after its replacement was acknowledged', () => {
  const [TWO, THREE] = ['note://two', 'note://three'];
  const update = (id: number, uri: string) => notice('notifications/resources/updated', id, { uri });
  /** Listens to the lists of tools and to ONE, then to TWO as well, then not to ONE any more. */
  async function replaced(apart: boolean) {
    const { one, acknowledge, ...rest } = listening(apart);
    void one.hearLists(['tools', 'prompts']);
    acknowledge({ toolsListChanged: true, promptsListChanged: true });
    const first = one.subscribe(ONE);
    await turn();
    acknowledge({ toolsListChanged: true, promptsListChanged: true, resourceSubscriptions: [ONE] });
    await first;
    const second = one.subscribe(TWO);
    await turn();
    acknowledge({ toolsListChanged: true, resourceSubscriptions: [ONE, TWO] });
    await second;
    return { one, acknowledge, ...rest };
  }

  test('counts for a second, where each has a stream of its own', async () => {
    const { one, clock, told, withdrawn } = await replaced(true);
    one.notice(update(2, ONE));
    clock.advance(1000);
    one.notice(notice('notifications/tools/list_changed', 2, {}));
    expect(told.splice(0)).toEqual([ONE, 'tools']);
    clock.advance(1);
    one.notice(update(2, ONE));
    one.notice(update(3, TWO));
    expect(told).toEqual(['late', TWO]);
    expect(withdrawn).toEqual([1, 2]);
  });

  test('counts as far as both honor it, and of the last one replaced', async () => {
    const { one, told, acknowledge } = await replaced(true);
    one.notice(update(2, TWO));
    one.notice(notice('notifications/prompts/list_changed', 2, {}));
    one.notice(update(1, ONE));
    one.unsubscribe(ONE);
    await turn();
    acknowledge({ toolsListChanged: true, resourceSubscriptions: [TWO] });
    one.notice(update(3, ONE));
    one.notice(update(2, ONE));
    expect(told.splice(0)).toEqual(['late', 'late', 'late', 'late', 'late']);
    one.notice(update(3, TWO));
    expect(told).toEqual([TWO]);
  });

  test('is late where all comes in one order', async () => {
    const { one, told } = await replaced(false);
    one.notice(update(2, ONE));
    expect(told).toEqual(['late']);
  });

  test('is late once nothing is listened to', async () => {
    const { one, told, opened } = await replaced(true);
    opened.at(-1)?.ended(error(-32603));
    one.notice(update(2, ONE));
    one.notice(update(9, THREE));
    expect(told).toEqual(['late', 'unknown']);
  });
});
