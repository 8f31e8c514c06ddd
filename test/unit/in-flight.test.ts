import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readMessage } from '../../src/protocol/envelope.ts';
import { InFlight } from '../../src/session/in-flight.ts';

const message = readMessage('{"jsonrpc":"2.0","id":1,"method":"tools/call"}', 8);
const cancellation = readMessage('{"jsonrpc":"2.0","method":"notifications/cancelled"}', 8);
const DENIED = { code: -32602, message: 'denied' };

type Step = readonly ['add' | 'take' | 'cancel' | 'revoke', number];
const steps = fc.array(fc.tuple(fc.constantFrom('add', 'take', 'cancel', 'revoke'), fc.nat(5)), { maxLength: 40 });

/** Runs the steps beside a Map that says what is to be there: upstream by id; every third request is no upstream's. */
function run(all: readonly Step[]) {
  if (message.kind !== 'request' || cancellation.kind !== 'notification') throw new Error('not as written');
  const inFlight = new InFlight(64);
  const model = new Map<number, string | undefined>();
  const ends: string[] = [];
  for (const [step, n] of all) {
    const upstream = n % 3 === 0 ? undefined : `up-${n % 3}`;
    if (step === 'add' && !model.has(n)) {
      const target = {
        upstream: `${upstream}`,
        rule: '0',
        subject: { kind: 'tools', upstream: '', name: '' },
      } as const;
      const deny = () => {
        inFlight.take(n);
        ends.push(`denied ${n}`);
      };
      const entry = { cancel: () => void ends.push(`cancelled ${n}`) };
      inFlight.add(n, entry, upstream === undefined ? undefined : { request: message, target, deny });
      model.set(n, upstream);
    } else if (step === 'take') expect(inFlight.take(n)).toBe(model.delete(n));
    else if (step === 'cancel') expect(inFlight.cancel(n, cancellation)).toBe(model.delete(n));
    else if (step === 'revoke') {
      const before = ends.length;
      inFlight.revoke(({ target }) => (target.upstream === `up-${n % 3}` ? DENIED : undefined));
      const gone = [...model].filter(([, has]) => has !== undefined && has === `up-${n % 3}`).map(([id]) => id);
      const expected = gone.flatMap((id) => [`denied ${id}`, `cancelled ${id}`]);
      expect(ends.slice(before).sort()).toEqual(expected.sort());
      for (const id of gone) model.delete(id);
    }
  }
  return { inFlight, model };
}

test('what is there, and whose it is, stays right however requests come, end and are denied', () => {
  fc.assert(
    fc.property(steps, (all) => {
      const { inFlight, model } = run(all);
      expect([0, 1, 2, 3, 4, 5].filter((id) => inFlight.has(id))).toEqual([...model.keys()].sort());
      const upstreams = [...model.values()].filter((upstream) => upstream !== undefined);
      expect(inFlight.upstreams().sort()).toEqual(upstreams.sort());
      inFlight.cancelAll();
      expect([inFlight.size, inFlight.upstreams()]).toEqual([0, []]);
    }),
  );
});
