import { once } from 'node:events';
import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { Gate } from '../../src/http/gate.ts';
import { HandshakeRates } from '../../src/http/handshake-rates.ts';
import { Pending } from '../../src/http/pending.ts';
import { Slots } from '../../src/http/slots.ts';
import { welcome } from '../../src/http/tcp-welcome.ts';
import type { Leases } from '../../src/ports/leases.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { recordedLog, recordedMeter } from '../support/recorded.ts';

const OPTIONS = {
  maxMessage: 1000,
  depth: 10,
  firstMessage: 10_000,
  outbox: 1000,
  slowReader: 1000,
  anonymousRoles: [],
  certify: undefined,
};
const SLOTS = { connections: 1, connectionsPerPrincipal: 1, connectionsPerAddress: null };
const RATES = { pending: 10, perSecond: 10, perAddress: null };

function waiting() {
  const clock = fakeClock();
  const meter = recordedMeter();
  const asked: ((fits: boolean) => void)[] = [];
  const leases: Leases = {
    claim: () => new Promise((resolve) => void asked.push(resolve)),
    settle: () => {},
    close: async () => {},
  };
  const draining = () => false;
  const rates = new HandshakeRates(RATES, clock);
  const gate = new Gate({ rates, trustedProxies: [], draining, overloaded: () => false });
  const [slots, pending] = [new Slots(SLOTS, leases), new Pending(10)];
  const audit = { record: () => {}, close: async () => {} };
  const socket = new Socket();
  const parts = { clock, meter, log: recordedLog(), gate, slots, pending, draining, audit };
  welcome(socket, OPTIONS, { ...parts, growing: () => {}, accept: () => {} });
  const refused = (reason: string) => meter.read('connections_refused_total', { reason });
  return { socket, clock, slots, asked, refused };
}

test('who goes while other replicas are asked is neither listened to nor counted as late, and leaves its place', async () => {
  const { socket, clock, slots, asked, refused } = waiting();
  socket.destroy();
  await once(socket, 'close');
  asked[0]?.(true);
  await new Promise(setImmediate);
  clock.advance(10_000);
  expect(refused('first_line_late')).toBe(0);
  expect(socket.listenerCount('data')).toBe(0);
  expect(typeof slots.reserve('anybody', '')).toBe('function');
});

test('who stays is listened to from then on, for as long as a first line may take', async () => {
  const { socket, clock, asked, refused } = waiting();
  clock.advance(10_000);
  expect(socket.listenerCount('data')).toBe(0);
  asked[0]?.(true);
  await new Promise(setImmediate);
  expect(socket.listenerCount('data')).toBe(1);
  clock.advance(9_999);
  expect(refused('first_line_late')).toBe(0);
  clock.advance(1);
  expect(refused('first_line_late')).toBe(1);
});
