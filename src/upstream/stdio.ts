import type { Cancel, Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Meter } from '../ports/meter.ts';
import type { Channel, Dial, Receiver } from '../ports/transport.ts';
import { batchedWrites } from '../transport/batched-writes.ts';
import { droppedAnswerId } from '../transport/dropped-answer.ts';
import { frameLine, type LineReader, lineReader, type OversizeLine } from '../transport/line-framing.ts';
import { untaken } from '../transport/untaken.ts';
import { logStderr } from './child-stderr.ts';
import { masking } from './masking.ts';
import { type Exit, type ProcessGroup, type StopGrace, startGroup } from './process-group.ts';
import { safeEnvironment } from './safe-environment.ts';

export interface StdioOptions {
  readonly command: string;
  readonly args?: readonly string[];
  /** Added to the safe environment. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Bytes a line from the child may have; of a longer one only the request it answers fails. */
  readonly maxMessage: number;
  readonly stopGrace?: StopGrace;
}

export interface StdioDeps {
  readonly log: Log;
  readonly meter: Meter;
  /** The upstream's key. */
  readonly upstream: string;
  readonly clock: Clock;
  /** The gateway's own environment, of which the child gets the safe names. */
  readonly environment: NodeJS.ProcessEnv;
  /** Keeps a synchronous task for the gateway's own exit, when nothing can be awaited; returns the way to withdraw it. */
  readonly atExit?: (task: () => void) => () => void;
}

/** How long output may still come once the child has exited, when something outside its group holds the pipe. */
const LINGER_MS = 250;

/** A child process speaking newline-delimited JSON-RPC (MCP stdio transport). Every line of its stdout is passed on unjudged. */
export function dialStdio(options: StdioOptions, deps: StdioDeps): Dial {
  return async (receiver, signal) => {
    signal.throwIfAborted();
    const group = await startGroup({
      command: options.command,
      args: options.args ?? [],
      env: safeEnvironment(deps.environment, options.env),
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      ...(options.stopGrace === undefined ? {} : { grace: options.stopGrace }),
    });
    if (signal.aborted) await group.stop();
    signal.throwIfAborted();
    return new StdioChannel(group, options, receiver, deps);
  };
}

/**
 * Ends by `close()`, or when the child exits, closes its stdout or breaks its stdin. What the child wrote before is
 * delivered first; while paused it waits, and so does `closed`.
 */
class StdioChannel implements Channel {
  readonly #group: ProcessGroup;
  readonly #receiver: Receiver;
  readonly #deps: StdioDeps;
  readonly #log: Log;
  readonly #reader: LineReader;
  readonly #maxMessage: number;
  readonly #batch: () => void;
  readonly #mask: (line: string) => string;
  #stopped: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  #exit: Exit | undefined;
  #brokenPipe: Error | undefined;
  #outputDone = false;
  #paused = false;
  #finished = false;
  #cancelLinger: Cancel = () => {};
  #release = () => {};

  constructor(group: ProcessGroup, { maxMessage, env }: StdioOptions, receiver: Receiver, deps: StdioDeps) {
    this.#mask = masking(Object.values(env ?? {}));
    this.#group = group;
    this.#receiver = receiver;
    this.#deps = deps;
    this.#maxMessage = maxMessage;
    this.#batch = batchedWrites(group.stdin);
    this.#log = deps.log.child({ upstream: deps.upstream, pid: group.pid });
    this.#reader = lineReader({
      maxLine: maxMessage,
      onLine: (line) => this.#deliver(line),
      onOversize: (line) => this.#dropped(line),
      onEnd: () => this.#outputEnded(),
    });
    this.#account();
    this.#listen();
  }

  send(message: string): boolean {
    if (this.#stopped !== undefined) return false;
    this.#batch();
    this.#group.stdin.write(frameLine(message));
    return true;
  }

  get backlog(): number {
    return this.#group.stdin.writableLength;
  }

  get untaken(): number {
    return untaken(this.#group.stdin);
  }

  pause(): void {
    if (this.#closing !== undefined) return;
    this.#paused = true;
    this.#reader.pause();
    this.#group.stdout.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#reader.resume();
    this.#group.stdout.resume();
    this.#linger();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const stopped = this.#stop();
    // Drains into nothing, so that a child blocked on a full pipe can still end by itself.
    this.#paused = false;
    this.#group.stdout.resume();
    await stopped;
    this.#group.stdout.destroy();
    this.#group.stderr.destroy();
    this.#finish();
  }

  #listen(): void {
    const { stdin, stdout, stderr, exited } = this.#group;
    stdout.on('data', (chunk: Buffer) => {
      if (this.#closing === undefined) this.#reader.push(chunk);
    });
    // Node sets the pipes of a child that exits flowing, paused or not.
    stdout.on('resume', () => {
      if (this.#paused) stdout.pause();
    });
    stdout.on('error', () => {});
    stdout.once('close', () => this.#reader.end());
    stdin.once('error', (error: Error) => {
      this.#brokenPipe = error;
      void this.#stop();
    });
    logStderr(stderr, this.#log, this.#deps.clock, this.#mask);
    void exited.then((exit) => {
      this.#exit = exit;
      void this.#stop();
      this.#linger();
      this.#settle();
    });
  }

  /** The child counts until nothing of its group is left. */
  #account(): void {
    const children = this.#deps.meter.gauge('children', { upstream: this.#deps.upstream });
    const withdraw = this.#deps.atExit?.(() => this.#group.killNow());
    children.add(1);
    this.#release = () => {
      children.add(-1);
      withdraw?.();
    };
    this.#log.debug('upstream_started');
  }

  #deliver(line: string): void {
    if (this.#closing === undefined) this.#receiver.message(line);
  }

  #dropped({ head, tail, bytes }: OversizeLine): void {
    if (this.#closing !== undefined) return;
    const id = droppedAnswerId(head, tail);
    this.#log.warn('upstream_line_too_long', { bytes, limit: this.#maxMessage, ...(id === undefined ? {} : { id }) });
    if (id === undefined) return;
    const cause = new Error(`the answer has ${bytes} bytes, over the limit of ${this.#maxMessage}`);
    this.#receiver.failed(id, { reason: 'too_large', cause });
  }

  #outputEnded(): void {
    this.#outputDone = true;
    void this.#stop();
    this.#settle();
  }

  #stop(): Promise<void> {
    this.#stopped ??= this.#group.stop().then(() => this.#release());
    return this.#stopped;
  }

  /** Once exited, a pipe held open by a process outside the group must not keep the channel from ending. Paused, it waits for `resume`. */
  #linger(): void {
    if (this.#exit === undefined || this.#outputDone) return;
    this.#cancelLinger();
    // One more turn of the loop reads what had arrived while the loop was busy.
    this.#cancelLinger = this.#deps.clock.after(LINGER_MS, () => setImmediate(() => this.#giveUpOutput()));
  }

  #giveUpOutput(): void {
    if (!this.#paused) this.#group.stdout.destroy();
  }

  #settle(): void {
    if (this.#exit !== undefined && this.#outputDone && this.#closing === undefined) this.#finish(this.#exit);
  }

  #finish(exit?: Exit): void {
    if (this.#finished) return;
    this.#finished = true;
    this.#cancelLinger();
    this.#receiver.closed(exit === undefined ? undefined : exitError(exit, this.#brokenPipe));
  }
}

function exitError({ code, signal }: Exit, cause: Error | undefined): Error {
  const how = signal === null ? `exited with code ${code}` : `was killed by ${signal}`;
  return new Error(`the process ${how}`, cause === undefined ? {} : { cause });
}
