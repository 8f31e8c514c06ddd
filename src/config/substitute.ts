/** Where the text for `${VAR}` and `${file:path}` comes from; undefined or a fault where there is none. */
export interface Sources {
  variable(name: string): string | undefined;
  file(path: string): { readonly text: string } | { readonly fault: string };
}

export type Substitution =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly problem: string };

const DOLLAR: Substitution = { ok: true, text: '$' };

/** How deep a default may hold another substitution. */
const MAX_DEPTH = 8;

/**
 * Replaces `${VAR}`, `${VAR:-default}` and `${file:path}`; `$$` is `$`, any other `$` stands for itself. As in a shell, the
 * default is taken when the variable is unset or empty, and may hold substitutions, which are looked at only then. One newline
 * at the end of a file is dropped. What was put in is not looked at again. A problem names variable or path, never a value.
 */
export function substitute(text: string, sources: Sources, depth = 0): Substitution {
  let out = '';
  for (let at = 0; at < text.length; ) {
    const dollar = text.indexOf('$', at);
    if (dollar < 0) return { ok: true, text: out + text.slice(at) };
    out += text.slice(at, dollar);
    const end = text[dollar + 1] === '{' ? closing(text, dollar) : dollar + (text[dollar + 1] === '$' ? 2 : 1);
    if (end === undefined)
      return { ok: false, problem: `holds a \${ that is not closed; write $\${ for the text itself` };
    const value = end > dollar + 2 ? lookUp(text.slice(dollar + 2, end - 1), sources, depth) : DOLLAR;
    if (!value.ok) return value;
    out += value.text;
    at = end;
  }
  return { ok: true, text: out };
}

/** The place after the brace that closes the one at `dollar + 1`. */
function closing(text: string, dollar: number): number | undefined {
  let open = 0;
  for (let at = dollar; at < text.length; at++) {
    if (text.startsWith('${', at)) open++;
    else if (text[at] === '}' && --open === 0) return at + 1;
  }
  return undefined;
}

function lookUp(inner: string, sources: Sources, depth: number): Substitution {
  if (inner.startsWith('file:')) return fromFile(inner.slice('file:'.length), sources);
  const match = /^([A-Za-z_][A-Za-z0-9_]*)(?::-([\s\S]*))?$/.exec(inner);
  const name = match?.[1];
  if (name === undefined || depth > MAX_DEPTH) {
    return { ok: false, problem: `holds a \${…} that is none of \${VAR}, \${VAR:-default} and \${file:path}` };
  }
  const fallback = match?.[2];
  const value = sources.variable(name);
  if (fallback !== undefined && (value === undefined || value === '')) return substitute(fallback, sources, depth + 1);
  return value === undefined
    ? { ok: false, problem: `needs the environment variable ${name}, which is not set` }
    : { ok: true, text: value };
}

function fromFile(path: string, sources: Sources): Substitution {
  const read = sources.file(path);
  if ('fault' in read) return { ok: false, problem: `needs the file ${path}, which cannot be read (${read.fault})` };
  return { ok: true, text: read.text.replace(/\r?\n$/, '') };
}
