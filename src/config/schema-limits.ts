import { z } from 'zod';
import { count, duration, leaf, says, size } from './schema-kinds.ts';
import { parsePercent, parseSize } from './units.ts';

/** Requests a second and how many may come at once. */
const rate = z.strictObject({
  rate: says(count(), 'Steady rate, a second.'),
  burst: says(count(), 'How many may come at once.'),
});

/** A share of the memory the process may use, or bytes. */
const share = leaf(
  'a percentage such as 25% or a size such as 512MiB',
  (value): { percent: number } | { bytes: number } | undefined => {
    const percent = parsePercent(value);
    if (percent !== undefined) return { percent };
    const bytes = parseSize(value);
    return bytes === undefined || bytes === 0 ? undefined : { bytes };
  },
);

const addressRate = z
  .strictObject({
    rate: says(count(), 'Steady rate, a second.'),
    burst: says(count(), 'How many may come at once, at least `rate`.'),
  })
  .superRefine(({ rate, burst }, context) => {
    if (burst < rate) context.addIssue({ code: 'custom', message: 'must be at least rate', path: ['burst'] });
  });

const handshakes = z.strictObject({
  pending: says(count().prefault(256), 'Upgrades under way at once; one more is answered 503.'),
  perSecond: says(
    count().prefault(500),
    'Connections begun at once, and then a second, over all listeners; one more is answered 503.',
  ),
  perAddress: says(
    addressRate.nullable().prefault(null),
    'Connections begun by one address, or one /64 of IPv6; one more is answered 429. null for no limit.',
  ),
});

export const limitsSchema = z.strictObject({
  maxMessage: says(size().prefault('4MiB'), 'Largest message from a client; a larger one closes its socket with 1009.'),
  maxUpstreamMessage: says(
    size().prefault('16MiB'),
    'Largest message from an upstream; a larger one fails the call it answers.',
  ),
  depth: says(count().prefault(4000), 'Deepest nesting of a message; a deeper one is invalid.'),
  handshakes: handshakes.prefault({}),
  firstMessage: says(
    duration().prefault('10s'),
    'How long a new socket may say nothing before it is closed with 4408.',
  ),
  pingInterval: says(duration().prefault('25s'), 'A WebSocket ping leaves at least this often.'),
  pongTimeout: says(
    duration().prefault('10s'),
    'How long after a ping the pong may take before the socket is terminated.',
  ),
  inFlight: says(count().prefault(64), 'Requests of one session under way at once.'),
  subscriptions: says(count().prefault(64), 'Resources one session may be subscribed to.'),
  requestsPerSecond: says(
    rate.nullable().prefault({ rate: 100, burst: 200 }),
    'What one principal may send on all its sockets of one replica: a request counts 1, a malformed message 5, any other 0.2; null for no limit.',
  ),
  outbox: says(
    size().prefault('16MiB'),
    'What may wait for one socket to be read; an empty outbox takes any one message.',
  ),
  slowReader: says(
    duration().prefault('10s'),
    'How long a full outbox may not shrink before the socket is closed with 4430; what a shared upstream fills is closed at once.',
  ),
  bufferedTotal: says(
    share.prefault('25%'),
    'What may wait for all clients and upstreams together, of the memory the process may use; over it, the sockets with most waiting are closed with 1013.',
  ),
  connections: says(count().prefault(10000), 'Open sockets in all; one more is answered 503.'),
  connectionsPerPrincipal: says(
    count().prefault(20),
    'Open sockets of one principal, over all replicas where `bus` is set; one more is answered 429.',
  ),
  connectionsPerAddress: says(
    count().nullable().prefault(null),
    'Open sockets of one address, or one /64 of IPv6; one more is answered 429. null for no limit.',
  ),
  connectionAge: says(
    duration().nullable().prefault(null),
    'How old a socket may become, give or take 10 %, before it is drained; null for no limit.',
  ),
  children: says(count().prefault(64), 'Processes running for sessions.'),
  childrenPerPrincipal: says(count().prefault(8), 'Processes running for the sessions of one principal.'),
  childStartsPerSecond: says(count().prefault(5), 'Processes started for sessions in a second.'),
});

const drain = z.strictObject({
  notice: says(duration('zero').prefault('0s'), 'How long the gateway goes on as usual after it was told to stop.'),
  inFlight: says(
    duration('zero').prefault('30s'),
    'How long calls under way may take once it is the turn of their socket to close.',
  ),
  waves: says(duration('zero').prefault('10s'), 'Over how long the closing of sockets is spread.'),
});

export const timingSchema = z.strictObject({
  listChangeCoalesce: says(
    duration('zero').prefault('100ms'),
    'Changes of a list within this time are one change, and a session is told of an updated resource once within it.',
  ),
  resumeWindow: says(duration('zero').prefault('0s'), 'How long a lost session waits to be resumed.'),
  drain: drain.prefault({}),
});
