import type { Fields, Log } from '../ports/log.ts';
import { AnsweredError } from '../protocol/errors.ts';

/** Lines of a child's standard error that are kept: its first words say why it fails. */
const MAX_STDERR = 50;
const MAX_FAULTS = 20;
const MAX_CAUSES = 4;

/** A log that keeps what a person who checks an upstream wants to read, in words. */
export class Remarks implements Log {
  readonly #faults = new Set<string>();
  readonly #stderr: string[] = [];

  /** What was wrong with an upstream that answered; each once. */
  get faults(): readonly string[] {
    return [...this.#faults];
  }

  /** Why an upstream could not be reached: the error, its causes, and what the process said last. */
  explain(error: unknown): string {
    const said = this.#stderr.find((line) => /error/i.test(line)) ?? this.#stderr.at(-1);
    return said === undefined ? messageOf(error) : `${messageOf(error)}; its standard error says: ${said}`;
  }

  debug(): void {}

  info(event: string, fields: Fields = {}): void {
    const { line } = fields;
    const isWords = event === 'upstream_stderr' && typeof line === 'string' && line.trim() !== '';
    if (isWords && this.#stderr.length < MAX_STDERR) this.#stderr.push(line);
  }

  warn(event: string, fields: Fields = {}): void {
    if (event === 'upstream_stderr_dropped' || this.#faults.size >= MAX_FAULTS) return;
    this.#faults.add(inWords(event, fields));
  }

  error(event: string, fields: Fields = {}): void {
    this.warn(event, fields);
  }

  child(): Log {
    return this;
  }
}

function inWords(event: string, { kind, err, reason, kept, tool, ...counts }: Fields): string {
  if (event === 'tool_refused') return `the tool ${String(tool)} was left out: ${String(reason)}`;
  if (event === 'list_failed') return `the list of ${String(kind)} failed: ${messageOf(err)}`;
  if (event === 'list_cut')
    return `the list of ${String(kind)} was cut after ${String(kept)} items (${spaced(String(reason))})`;
  if (event !== 'definitions_skipped') return err === undefined ? spaced(event) : `${spaced(event)}: ${messageOf(err)}`;
  const parts = Object.entries(counts).map(([why, count]) => `${String(count)} ${spaced(why)}`);
  return `definitions of ${String(kind)} were left out: ${parts.join(', ')}`;
}

function spaced(word: string): string {
  return word.replaceAll('_', ' ');
}

/** The messages of an error and its causes, outermost first. */
function messageOf(error: unknown): string {
  const messages: string[] = [];
  for (let each = error; each instanceof Error && messages.length < MAX_CAUSES; each = each.cause) {
    const own = each instanceof AnsweredError ? `error ${each.error.code}: ${each.error.message}` : each.message;
    const code = 'code' in each ? String(each.code) : each.name;
    // That it does not read either is no news of a process that has exited.
    if (code !== 'EPIPE') messages.push(own === '' ? code : own);
  }
  return messages.length === 0 ? String(error) : messages.join(': ');
}
