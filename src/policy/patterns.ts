import { compileGlob, fold, type Glob, matchesAnything } from './glob.ts';
import type { Targets } from './rule.ts';
import { hasOneReading, schemeOf, templateHasOneReading } from './uri.ts';

export type Kind = 'tools' | 'prompts' | 'resources' | 'methods';
export const KINDS: readonly Kind[] = ['tools', 'prompts', 'resources', 'methods'];

/** What is asked for, as text, worked out once for all rules. */
export interface Subject {
  readonly upstream: string;
  /** `<upstream>/<name>`, or the URI. */
  readonly text: string;
  readonly folded: string;
  /** A URI of more than one reading: globs other than the one for everything say nothing about it. */
  readonly ambiguous: boolean;
}

/** Whether the patterns that a rule has for a kind cover a subject. */
export type Patterns = (subject: Subject) => boolean;

export function subjectOf(target: { kind: Kind; upstream: string; name: string; template?: boolean }): Subject {
  const isUri = target.kind === 'resources';
  const text = isUri ? target.name : `${target.upstream}/${target.name}`;
  const oneReading = target.template === true ? templateHasOneReading : hasOneReading;
  return { upstream: target.upstream, text, folded: fold(text), ambiguous: isUri && !oneReading(text) };
}

/** Undefined where the rule does not name the kind. */
export function allowPatterns(targets: Targets, kind: Kind): Patterns | undefined {
  const patterns = targets[kind];
  if (patterns === undefined) return undefined;
  const everything = patterns.some(matchesAnything);
  const globs = patterns.map((pattern) => compileGlob(pattern, { foldCase: false }));
  const upstreams = targets.upstreams?.map((pattern) => compileGlob(pattern, { foldCase: false }));
  return (subject) => {
    if (upstreams !== undefined && !anyOf(upstreams, subject.upstream)) return false;
    return everything || (!subject.ambiguous && anyOf(globs, subject.text));
  };
}

/**
 * Deny patterns fold case and are wide where a peer chooses the text: in names a star also takes slashes, so that a tool
 * called `delete_all/now` does not step out of a segment; an ambiguous URI counts as covered unless its scheme differs.
 */
export function denyPatterns(targets: Targets, kind: Kind): Patterns | undefined {
  const patterns = targets[kind]?.map(fold);
  if (patterns === undefined) return undefined;
  const wide = kind === 'resources' ? patterns : patterns.map((pattern) => pattern.replaceAll('*', '**'));
  const globs = wide.map((pattern) => compileGlob(pattern, { foldCase: false }));
  const upstreams = targets.upstreams?.map((pattern) => compileGlob(pattern, { foldCase: true }));
  return (subject) => {
    if (upstreams !== undefined && !anyOf(upstreams, subject.upstream)) return false;
    if (subject.ambiguous && patterns.some((pattern) => mayConcern(pattern, subject.folded))) return true;
    return anyOf(globs, subject.folded);
  };
}

function mayConcern(pattern: string, uri: string): boolean {
  const scheme = schemeOf(pattern.split('*', 1).join(''));
  const asked = schemeOf(uri);
  return scheme === undefined || asked === undefined || scheme === asked;
}

function anyOf(globs: readonly Glob[], text: string): boolean {
  return globs.some((matches) => matches(text));
}
