import { readFileSync } from 'node:fs';
import type { Profiler } from 'node:inspector';
import { fileURLToPath } from 'node:url';

/** What of one folder of the built gateway has run: lines that hold code, and functions. */
export interface Covered {
  readonly folder: string;
  readonly lines: number;
  readonly linesRun: number;
  readonly functions: number;
  readonly functionsRun: number;
  /** Functions that never ran, as `file:line name`. */
  readonly missed: readonly string[];
}

interface Script {
  readonly name: string;
  readonly lines: Map<number, boolean>;
  readonly functions: Map<string, boolean>;
}

/** Adds up what several gateways have run, by folder. */
export class Coverage {
  private readonly scripts = new Map<string, Script>();

  add(scripts: readonly Profiler.ScriptCoverage[]): void {
    for (const { url, functions } of scripts) {
      const script = this.scripts.get(url) ?? { name: nameOf(url), lines: new Map(), functions: new Map() };
      this.scripts.set(url, script);
      addTo(script, readFileSync(fileURLToPath(url), 'utf8'), functions);
    }
  }

  of(folder: string): Covered {
    const scripts = [...this.scripts.values()].filter(({ name }) => name.startsWith(`${folder}/`));
    const lines = scripts.flatMap((script) => [...script.lines.values()]);
    const functions = scripts.flatMap(({ name, functions }) =>
      [...functions].map(([label, ran]) => ({ label: `${name}:${label}`, ran })),
    );
    return {
      folder,
      lines: lines.length,
      linesRun: lines.filter((ran) => ran).length,
      functions: functions.length,
      functionsRun: functions.filter(({ ran }) => ran).length,
      missed: functions.filter(({ ran }) => !ran).map(({ label }) => label),
    };
  }
}

function addTo(script: Script, source: string, functions: readonly Profiler.FunctionCoverage[]): void {
  const ran = countedCharacters(source.length, functions);
  const starts = lineStarts(source);
  for (const [at, text] of source.split('\n').entries()) {
    if (!/\w/.test(text) || /^\s*(\/\/|\/?\*|import |export (\{|\*))/.test(text)) continue;
    const first = (starts[at] ?? 0) + text.search(/\S/);
    const isRun = ran.subarray(first, first + text.trim().length).every((count) => count > 0);
    script.lines.set(at, isRun || script.lines.get(at) === true);
  }
  for (const { functionName, ranges } of functions) {
    const [whole] = ranges;
    if (whole === undefined || functionName === '') continue;
    const line = starts.findLastIndex((start) => start <= whole.startOffset) + 1;
    const label = `${line} ${functionName}`;
    script.functions.set(label, whole.count > 0 || script.functions.get(label) === true);
  }
}

/** Of each character, whether it has run: an inner range overrules the one around it. */
function countedCharacters(length: number, functions: readonly Profiler.FunctionCoverage[]): Uint8Array {
  const ran = new Uint8Array(length).fill(1);
  const ranges = functions.flatMap((one) => one.ranges);
  ranges.sort((a, b) => b.endOffset - b.startOffset - (a.endOffset - a.startOffset));
  for (const { startOffset, endOffset, count } of ranges) ran.fill(count > 0 ? 1 : 0, startOffset, endOffset);
  return ran;
}

function lineStarts(source: string): number[] {
  return [0, ...[...source.matchAll(/\n/g)].map(({ index }) => index + 1)];
}

function nameOf(url: string): string {
  return url.slice(url.indexOf('/dist/') + '/dist/'.length);
}
