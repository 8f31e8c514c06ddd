import type { Socket } from 'node:net';
import type { WebSocket } from '@fastify/websocket';
import type { Clock } from '../ports/clock.ts';
import { CLOSE_CODES, type CloseName, closeReason } from '../protocol/close-codes.ts';
import { judgePlace, type Said, type UpgradeRules } from './judge-upgrade.ts';
import { REFUSALS, type RefusalReason, type Refused } from './refusals.ts';

/** The refusals a page is told by a close, since it can read no other answer to an upgrade; it cannot help the rest. */
export const FAREWELLS = {
  token_carriage: 'malformed',
  no_token: 'unauthenticated',
  invalid_token: 'unauthenticated',
  invalid_ticket: 'unauthenticated',
  insufficient_scope: 'forbidden',
  keys_unavailable: 'overloaded',
  tickets: 'overloaded',
  handshakes_per_address: 'too_many',
  connections_per_address: 'too_many',
  connections_per_principal: 'too_many',
} as const satisfies Partial<Record<RefusalReason, CloseName>>;

const CLOSES: ReadonlyMap<string, CloseName> = new Map(Object.entries(FAREWELLS));

/** Sockets that are being told at once; who comes then gets the plain refusal. */
const MAX_OPEN = 64;
/** Milliseconds from the close frame to the end of the TCP connection. */
const CLOSING_MS = 1000;

export interface Farewell {
  readonly close: CloseName;
  readonly retryMs: number | undefined;
}

/** Upgrades that are refused by 101 and a close: no session, no slot, nothing read. */
export class Farewells {
  readonly #rules: UpgradeRules;
  readonly #clock: Clock;
  readonly #open = new Set<Socket>();

  constructor(rules: UpgradeRules, clock: Clock) {
    this.#rules = rules;
    this.#clock = clock;
  }

  /** How a refused upgrade is to be told of it, counted from here until `stream` has closed; undefined where HTTP tells it. */
  take({ refused, retryAfterMs }: Refused, said: Said, stream: Socket): Farewell | undefined {
    const close = CLOSES.get(refused);
    const isPage = said.headers.origin !== undefined && judgePlace(said, this.#rules) === undefined;
    if (close === undefined || !isPage || this.#open.size >= MAX_OPEN || stream.destroyed) return undefined;
    this.#open.add(stream);
    stream.once('close', () => this.#open.delete(stream));
    const { retryAfter } = REFUSALS[refused];
    return { close, retryMs: retryAfter === null ? undefined : (retryAfterMs ?? retryAfter * 1000) };
  }

  /** Says it on the upgraded socket. Whatever the page sends stays where it is. */
  say({ close, retryMs }: Farewell, socket: WebSocket, stream: Socket): void {
    socket.pause();
    // What was received and not read is looked at once more when the connection ends, and may be anything.
    socket.removeAllListeners('error').on('error', () => {});
    socket.close(CLOSE_CODES[close].code, closeReason(close, retryMs));
    // The page hears of the close as soon as the connection ends, which is the server's to do (RFC 6455 section 7.1.1).
    stream.end();
    stream.once(
      'close',
      this.#clock.after(CLOSING_MS, () => socket.terminate()),
    );
  }

  /** Ends those that are still open. */
  cut(): void {
    for (const stream of this.#open) stream.destroy();
  }
}
