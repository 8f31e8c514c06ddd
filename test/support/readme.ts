/** A fenced block: its language, its text without the fences, and the file it is, where the text before it names one. */
export interface Fence {
  readonly language: string;
  readonly text: string;
  readonly file: string | undefined;
}

export interface Command {
  readonly command: string;
  /** What the page quotes as its output, line by line. */
  readonly quoted: readonly string[];
}

/** A block of code or configuration is the file whose name, in backticks, is the last between it and the block before. */
export function fencesOf(markdown: string): Fence[] {
  return [...markdown.matchAll(/(.*?)^```(\w+)\n(.*?)^```$/gms)].map(([, before = '', language = '', text = '']) => {
    const named = [...before.matchAll(/`([\w-]+\.(?:mjs|yaml))`/g)];
    return { language, text, file: language === 'console' || language === 'sh' ? undefined : named.at(-1)?.[1] };
  });
}

/** The commands of a `console` block: lines after `$ `, each with the lines that follow it. */
export function commandsOf(text: string): Command[] {
  return text
    .split(/^\$ /m)
    .filter((part) => part !== '')
    .map((part) => {
      const [command = '', ...quoted] = part.trimEnd().split('\n');
      return { command, quoted };
    });
}

/** Times, durations and ids replaced by words, so that two runs compare. */
export function masked(line: string): string {
  return line
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'ID')
    .replaceAll(/"durationMs":[\d.]+/g, '"durationMs":N')
    .replaceAll(/\d+ ms\)/g, 'N ms)');
}
