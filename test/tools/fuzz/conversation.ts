import { isUtf8 } from 'node:buffer';
import { Random } from '../trial/random.ts';
import type { RawSocket } from '../trial/socket.ts';
import { excerpt, Ledger } from './ledger.ts';
import { type ClientEra, type Fields, Messages, REVISIONS } from './messages.ts';
import { mutateFrame } from './mutate-frame.ts';
import { mutateBytes, TEXT_CHANGES } from './mutate-text.ts';
import { mutateTree } from './mutate-tree.ts';

/** Milliseconds within which whatever is owed must have come. */
const PATIENCE = 20_000;
/** Mutants between two barriers: fewer than may be in flight, so that calls get through. */
const BURST = 12;
/** How often a message goes unchanged before a mutant, and is not counted: it gets the session somewhere. */
const BETWEEN = 0.4;
/** Bytes. */
const MAX_FIRST_LINE = 64 * 1024;
/** What only an upstream that is denied to everybody says. */
const CANARY = 'of hidden';

export interface Rules {
  readonly framing: 'websocket' | 'lines';
  /** Malformed messages after which a conversation is over. */
  readonly malformed: number;
  /** Whether a rate counts, beyond which what is malformed has no answer. */
  readonly drops: boolean;
  /** Close codes that a mutant text alone may bring about. */
  readonly closes: readonly number[];
}

/** Counts of mutants by what was done to them. */
export type Tally = Map<string, { mutants: number; json: number }>;

/** One socket and the mutants sent over it; what is wrong with what came of them is in `faults`. */
export class Conversation {
  readonly faults: string[] = [];
  private readonly socket: RawSocket;
  private readonly seed: string;
  /** Of this step: what comes in between, and when, changes nothing of the steps to come. */
  private random: Random;
  private readonly rules: Rules;
  private readonly tally: Tally;
  private readonly ledger: Ledger;
  private readonly messages: Messages;
  private readonly era: ClientEra;
  private readonly trace: (line: string) => void;
  private wake: () => void = () => {};
  private barriers = 0;
  private isEnding = false;
  private mayEnd = false;
  private isFirst = true;

  constructor(socket: RawSocket, seed: string, rules: Rules, tally: Tally, trace: (line: string) => void) {
    this.socket = socket;
    this.seed = seed;
    this.random = new Random(seed);
    this.rules = rules;
    this.ledger = new Ledger(rules.drops);
    this.tally = tally;
    this.trace = trace;
    this.era = this.random.pick('handshake', 'handshake', 'modern');
    this.messages = new Messages(this.era);
    socket.onText = (text) => this.received(text);
    socket.onEnded = () => this.wake();
  }

  /** Returns how many mutants were sent. */
  async run(): Promise<number> {
    const wanted = 10 + this.random.int(60);
    await this.open();
    let sent = 0;
    while (sent < wanted && this.goesOn) {
      this.random = new Random(`${this.seed}:${sent}`);
      if (this.random.chance(BETWEEN)) this.unchanged();
      this.mutant();
      sent += 1;
      if (this.rules.malformed <= this.ledger.malformed) break;
      if (sent % BURST === 0 && this.goesOn) await this.barrier();
    }
    if (this.mayEnd) await this.until(() => false, PATIENCE / 4);
    if (this.socket.ended === undefined && !this.mayEnd) await this.settle();
    this.judgeEnd();
    this.leave();
    return sent;
  }

  private get goesOn(): boolean {
    return this.socket.ended === undefined && !this.mayEnd;
  }

  /** As a client of its era does, or with a mutant. */
  private async open(): Promise<void> {
    const { era, ledger, messages, random } = this;
    if (random.chance(0.12)) {
      ledger.batching = 'unknown';
      return;
    }
    const revision = random.pick(...REVISIONS);
    const opening = era === 'handshake' ? messages.initialize(revision, random) : messages.opening(random);
    this.trace(`> ${JSON.stringify(opening)}`);
    this.send(Buffer.from(JSON.stringify(opening)));
    await this.until(() => ledger.isSettled, PATIENCE);
    if (era === 'handshake' && revision === '2025-03-26') ledger.batching = 'yes';
    if (era === 'handshake') this.send(Buffer.from('{"jsonrpc":"2.0","method":"notifications/initialized"}'));
  }

  private unchanged(): void {
    const text = JSON.stringify(this.messages.next(this.random, [...this.ledger.questions]));
    this.trace(`> ${text}`);
    this.send(Buffer.from(text));
  }

  private mutant(): void {
    const { random, rules } = this;
    if (rules.framing === 'websocket' && random.chance(0.1)) return this.frameMutant();
    const [name, bytes] = this.textMutant();
    this.count(name, bytes.toString());
    this.trace(`> ${name}: ${bytes.toString()}`);
    this.send(bytes);
  }

  private frameMutant(): void {
    const text = JSON.stringify(this.messages.next(this.random, [...this.ledger.questions]));
    const mutant = mutateFrame(text, this.random);
    this.count(`frame: ${mutant.name}`, mutant.text ?? '');
    this.trace(`> ${mutant.name}: ${text}`);
    if (mutant.text !== undefined) this.ledger.sent(mutant.text);
    if (mutant.ends === true) this.mayEnd = true;
    this.socket.write(mutant.bytes);
  }

  private textMutant(): [name: string, bytes: Buffer] {
    const { random } = this;
    const message = this.messages.next(this.random, [...this.ledger.questions]);
    if (random.chance(0.06)) return ['batch', Buffer.from(JSON.stringify(this.batch(message)))];
    if (random.chance(0.6)) return ['structure', Buffer.from(JSON.stringify(mutateTree(message, random)) ?? '')];
    if (random.chance(0.15)) return ['bytes', mutateBytes(JSON.stringify(message), random)];
    const name = random.oneOf(Object.keys(TEXT_CHANGES)) ?? '';
    const changed = TEXT_CHANGES[name]?.(JSON.stringify(message), random) ?? '';
    return [name, Buffer.from(random.chance(0.1) ? `[${changed}]` : changed)];
  }

  private batch(first: Fields): unknown[] {
    const more = Array.from({ length: this.random.pick(0, 1, 3, 70) }, () => this.messages.next(this.random, []));
    return [first, ...more].map((one) => (this.random.chance(0.5) ? mutateTree(one, this.random) : one));
  }

  private count(name: string, text: string): void {
    const row = this.tally.get(name) ?? { mutants: 0, json: 0 };
    row.mutants += 1;
    if (isJson(text)) row.json += 1;
    this.tally.set(name, row);
  }

  /** Writes a message, whatever it is, and takes down what is owed for it. */
  private send(bytes: Buffer): void {
    if (this.rules.framing === 'websocket') {
      if (isUtf8(bytes)) this.ledger.sent(bytes.toString());
      else this.mayEnd = true;
    } else for (const line of bytes.toString().split('\n')) this.line(line.replace(/\r$/, ''));
    this.socket.send(bytes);
  }

  /** A connection whose first line is no request, or a long one, is ended. */
  private line(line: string): void {
    if (line === '' || this.mayEnd) return;
    const isFair = Buffer.byteLength(line) <= MAX_FIRST_LINE && this.ledger.isRequest(line);
    if (this.isFirst && !isFair) this.mayEnd = true;
    else this.ledger.sent(line);
    this.isFirst = false;
  }

  /** A ping and its answer: all before it has been read. */
  private async barrier(): Promise<void> {
    this.barriers += 1;
    const id = `barrier ${this.barriers}`;
    this.send(Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' })));
    await this.until(() => !this.ledger.unanswered.includes(id), PATIENCE);
  }

  /** Answers what the gateway asks, and waits for all that is owed; what came twice has come by then. */
  private async settle(): Promise<void> {
    this.isEnding = true;
    for (const id of this.ledger.questions) this.refuse(id);
    await this.until(() => this.ledger.isSettled, PATIENCE);
    if (this.socket.ended === undefined) await this.barrier();
    if (!this.rules.closes.includes(this.socket.ended?.code ?? 0)) this.ledger.close();
    this.faults.push(...this.ledger.faults);
  }

  private refuse(id: string): void {
    this.send(Buffer.from(JSON.stringify(this.messages.refusal(id))));
  }

  private received(text: string): void {
    this.trace(`< ${text}`);
    if (text.includes(CANARY)) this.faults.push(`what is denied is visible: ${excerpt(text)}`);
    this.ledger.received(text);
    for (const { id, result } of this.ledger.asking.splice(0)) this.messages.asked(id, result);
    if (this.isEnding) for (const id of this.ledger.questions) this.refuse(id);
    this.wake();
  }

  private judgeEnd(): void {
    const { ended } = this.socket;
    if (this.mayEnd && ended === undefined) this.faults.push('still open after a frame that must end it');
    if (ended === undefined || this.rules.closes.includes(ended.code)) return;
    const isFair = this.mayEnd && [1000, 1001, 1002, 1003, 1005, 1006, 1007, 1009, 3000, 4999].includes(ended.code);
    if (!isFair) this.faults.push(`closed ${ended.code} ${ended.reason}`);
  }

  /** As clients do: with a goodbye, without, or in the middle of calls. */
  private leave(): void {
    const { random, socket } = this;
    if (socket.ended !== undefined) return;
    for (let calls = random.pick(0, 0, 3); calls > 0; calls -= 1)
      socket.send(JSON.stringify(this.messages.next(this.random, [])));
    const way = random.pick<'close' | 'reset' | 'cut'>('close', 'reset', 'cut');
    socket[way]();
  }

  private until(done: () => boolean, within: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => end(), within);
      const end = () => {
        clearTimeout(timer);
        this.wake = () => {};
        resolve();
      };
      this.wake = () => {
        if (done() || this.socket.ended !== undefined) end();
      };
      this.wake();
    });
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
