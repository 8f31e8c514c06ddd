import { type Document, type ErrorCode, LineCounter, parseDocument, visit } from 'yaml';

export type YamlTree = { readonly ok: true; readonly tree: unknown } | { readonly ok: false; readonly problem: string };

/** YAML's own sentences quote what they stumble over, which may be a secret: ours never do. */
const SENTENCES: Partial<Record<ErrorCode, string>> = {
  BAD_ALIAS: 'an alias names no anchor',
  BAD_DQ_ESCAPE: 'a text in double quotes holds an invalid escape',
  BAD_INDENT: 'the indentation is wrong, or a bracket is not closed',
  BAD_SCALAR_START: 'a text begins with a character that needs quotes',
  BLOCK_AS_IMPLICIT_KEY: 'a mapping or list begins where a value was expected',
  DUPLICATE_KEY: 'a key is given twice',
  MISSING_CHAR: 'a quote, bracket, colon or comma is missing',
  MULTILINE_IMPLICIT_KEY: 'a key has no colon on its line',
  MULTIPLE_DOCS: 'the file holds more than one document',
  NON_STRING_KEY: 'a key is not text',
  RESOURCE_EXHAUSTION: 'the nesting is too deep',
  TAB_AS_INDENT: 'a tab is used for indentation',
  TAG_RESOLVE_FAILED: 'a tag is not known, or does not fit its value',
  UNEXPECTED_TOKEN: 'something stands where nothing was expected',
};

/** How often anchors may multiply what is in the file; beyond it the file is an attack or a mistake. */
const MAX_ALIASES = 100;

/**
 * A YAML 1.2 text as scalars, lists and Maps: Maps keep the order of the file and lose no key, whatever it is called.
 * Anything irregular is one sentence, with line and column; keys given twice, tags and several documents are.
 */
export function parseYaml(text: string): YamlTree {
  const lines = new LineCounter();
  try {
    const document = parseDocument(text, {
      lineCounter: lines,
      prettyErrors: false,
      stringKeys: true,
      logLevel: 'error',
    });
    const fault = firstFault(document);
    if (fault === undefined) return { ok: true, tree: document.toJS({ mapAsMap: true, maxAliasCount: MAX_ALIASES }) };
    const { line, col } = lines.linePos(fault.offset);
    return { ok: false, problem: `line ${line}, column ${col}: ${SENTENCES[fault.code] ?? 'this is not valid YAML'}` };
  } catch (error) {
    const cause =
      error instanceof RangeError ? 'the nesting is too deep' : 'aliases multiply it beyond what is accepted';
    return { ok: false, problem: cause };
  }
}

function firstFault(document: Document.Parsed): { code: ErrorCode; offset: number } | undefined {
  const fault = document.errors[0] ?? document.warnings[0];
  if (fault !== undefined) return { code: fault.code, offset: fault.pos[0] };
  const dangling: number[] = [];
  visit(document, {
    Alias(_key, alias) {
      if (alias.resolve(document) === undefined) dangling.push(alias.range?.[0] ?? 0);
    },
  });
  const offset = dangling[0];
  return offset === undefined ? undefined : { code: 'BAD_ALIAS', offset };
}
