import { expect, test } from 'vitest';
import { Binding, type Wire } from '../../src/transport/binding.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { recordedLog, recordedMeter } from '../support/recorded.ts';

function bound() {
  const said: string[] = [];
  const clock = fakeClock();
  const meter = recordedMeter();
  const log = recordedLog();
  const wire: Wire = {
    buffered: () => 0,
    untaken: () => 0,
    write: (frame) => said.push(`write ${frame}`),
    end: (name, retryMs) => said.push(`end ${name} ${retryMs}`),
    terminate: () => said.push('terminate'),
    pause: () => said.push('pause'),
    resume: () => said.push('resume'),
  };
  const binding = new Binding(wire, { outbox: 1000, slowReader: 1000 }, { clock, meter, log });
  binding.bind(() => ({
    frame: (text) => {
      said.push(`frame ${text}`);
      if (text === 'throw') throw new Error('thrown');
    },
    closed: (code, by) => said.push(`closed ${code} ${by}`),
  }));
  return { said, clock, meter, log, binding };
}

test('closes once, cuts off who stays, and hears nothing more', () => {
  const { said, clock, meter, binding } = bound();
  binding.received('1', 1);
  binding.close('draining', 500);
  binding.close('forbidden');
  binding.received('2', 1);
  expect(said.splice(0)).toEqual(['frame 1', 'resume', 'end draining 500']);
  clock.advance(999);
  expect(said).toEqual([]);
  clock.advance(1);
  binding.gone(1006);
  clock.advance(5000);
  expect(said).toEqual(['terminate', 'closed 1001 gateway']);
  expect(meter.read('connections_closed_total', { code: '1001', by: 'gateway' })).toBe(1);
});

test('a receiver that throws ends its connection as internal', () => {
  const { said, log, binding } = bound();
  binding.received('throw', 5);
  expect(said).toEqual(['frame throw', 'resume', 'end internal undefined']);
  expect(log.lines.map(({ event }) => event)).toEqual(['session_failed']);
});

test('a peer that goes is the client; one that is lost or breaks the protocol is ended by the gateway', () => {
  const [left, lost, broken] = [bound(), bound(), bound()];
  left.binding.gone(3999);
  lost.binding.lost();
  lost.binding.gone(1006);
  broken.binding.broken(1007);
  broken.binding.gone(1006);
  for (const { clock } of [left, lost, broken]) clock.advance(5000);
  expect([left.said, lost.said, broken.said]).toEqual([
    ['closed 3999 client'],
    ['terminate', 'closed 1006 gateway'],
    ['closed 1007 gateway'],
  ]);
  expect(left.meter.read('connections_closed_total', { code: 'other', by: 'client' })).toBe(1);
});
