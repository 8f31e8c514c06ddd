/** One line of docs/security.md: what somebody may try, what stands against it, and what shows that it does. */
export interface SecurityRow {
  readonly threat: string;
  readonly control: string;
  readonly tests: readonly { readonly file: string; readonly title: string }[];
}

const HEADER = '| threat | control | test |';
const CITED = /`(test\/[^`]+)` `([^`]+)`/g;

/** The rows of every table with that header. Throws on a row that has not three cells. */
export function rowsOf(markdown: string): SecurityRow[] {
  return markdown.split('\n').flatMap((line, at, lines) => (line === HEADER ? rowsFrom(lines.slice(at + 2)) : []));
}

function rowsFrom(lines: readonly string[]): SecurityRow[] {
  const end = lines.findIndex((line) => !line.startsWith('|'));
  return lines.slice(0, end === -1 ? undefined : end).map((line) => {
    const [threat, control, cited, ...more] = line
      .slice(1, -1)
      .split(' | ')
      .map((cell) => cell.trim());
    if (threat === undefined || control === undefined || cited === undefined || more.length > 0) {
      throw new Error(`not a row of threat, control and test: ${line}`);
    }
    const tests = [...cited.matchAll(CITED)].flatMap(([, file, title]) =>
      file === undefined || title === undefined ? [] : [{ file, title }],
    );
    return { threat, control, tests };
  });
}
