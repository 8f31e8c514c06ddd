/** One obligation as docs/PROTOCOL.md states it. */
export interface Obligation {
  readonly id: string;
  /** The heading of second level it stands under. */
  readonly section: string;
  readonly sentence: string;
}

export interface ProtocolPage {
  readonly obligations: readonly Obligation[];
  /** Lines with a key word that are no obligation. */
  readonly stray: readonly string[];
  /** Ids that walk-throughs name in brackets. */
  readonly cited: readonly string[];
}

const OBLIGATION = /^\* `([a-z]+(?:\.[a-z0-9-]+)+)` (.+)$/;
const KEY_WORD = /\b(MUST|SHOULD|SHALL|REQUIRED|RECOMMENDED)\b/;
const CITATION = /\[([a-z]+(?:\.[a-z0-9-]+)+)\](?!\()/g;

/** Reads the page: an obligation is one line, `* \`id\` sentence`. */
export function readProtocolPage(markdown: string): ProtocolPage {
  const obligations: Obligation[] = [];
  const stray: string[] = [];
  let section = '';
  for (const line of markdown.split('\n')) {
    if (line.startsWith('## ')) section = line.slice(3);
    const [, id, sentence] = OBLIGATION.exec(line) ?? [];
    if (id !== undefined && sentence !== undefined) obligations.push({ id, section, sentence });
    else if (KEY_WORD.test(line)) stray.push(line);
  }
  const cited = [...markdown.matchAll(CITATION)].flatMap(([, id]) => id ?? []);
  return { obligations, stray, cited };
}

/** Who a sentence binds; undefined where it is not of the one form all have. */
export function boundBy(sentence: string): 'gateway' | 'client' | undefined {
  const [, who] = /^The (gateway|client) (?:MUST|SHOULD) (?:NOT )?[a-z]/.exec(sentence) ?? [];
  const once = sentence.match(new RegExp(KEY_WORD, 'g'))?.length === 1 && sentence.endsWith('.');
  return once && (who === 'gateway' || who === 'client') ? who : undefined;
}
