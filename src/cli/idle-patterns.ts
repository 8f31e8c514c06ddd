import { nearest } from '../config/nearest.ts';
import { compileGlob } from '../policy/glob.ts';
import { allowPatterns, denyPatterns, type Subject, subjectOf } from '../policy/patterns.ts';
import type { PolicySource, Targets } from '../policy/rule.ts';

/** What one upstream was found to have, by original name, URI and URI template. */
export interface Offered {
  readonly upstream: string;
  readonly tools: readonly string[];
  readonly prompts: readonly string[];
  readonly resources: readonly string[];
  readonly templates: readonly string[];
}

export interface Surroundings {
  /** Keys of all configured upstreams. */
  readonly upstreams: readonly string[];
  /** Of those that answered. A pattern that may concern one that did not is not judged. */
  readonly offered: readonly Offered[];
}

type JudgedKind = 'tools' | 'prompts' | 'resources';
const JUDGED: readonly JudgedKind[] = ['tools', 'prompts', 'resources'];

/** A sentence for each pattern of the policy that matches nothing that was found: most likely a slip in it. */
export function idlePatterns(policy: PolicySource, around: Surroundings): string[] {
  if (policy === undefined || policy === null || policy === 'allow-authenticated') return [];
  return policy.flatMap(({ allow, deny }, index) => [
    ...(allow === undefined ? [] : idleIn(allow, 'allow', index, around)),
    ...(deny === undefined ? [] : idleIn(deny, 'deny', index, around)),
  ]);
}

function idleIn(targets: Targets, effect: 'allow' | 'deny', rule: number, around: Surroundings): string[] {
  const place = `policy[${rule}].${effect}`;
  const strangers = (targets.upstreams ?? []).filter((pattern) => !namesOneOf(pattern, around.upstreams));
  const idle = JUDGED.flatMap((kind) => {
    const subjects = subjectsOf(kind, around.offered);
    const patterns = (targets[kind] ?? []).filter((pattern) => isIdle(pattern, kind, effect, subjects, around));
    return patterns.map((pattern) => `${place}.${kind}: ${quoted(pattern)} matches ${nothing(pattern, kind, around)}`);
  });
  return [
    ...strangers.map((pattern) => `${place}.upstreams: ${quoted(pattern)} matches no configured upstream`),
    ...idle,
  ];
}

function isIdle(
  pattern: string,
  kind: JudgedKind,
  effect: 'allow' | 'deny',
  subjects: readonly Subject[],
  around: Surroundings,
): boolean {
  if (mayConcernUnseen(pattern, kind, around) || mayBeExpanded(pattern, kind, around)) return false;
  const compile = effect === 'allow' ? allowPatterns : denyPatterns;
  const covers = compile({ [kind]: [pattern] }, kind);
  return covers !== undefined && !subjects.some(covers);
}

function subjectsOf(kind: JudgedKind, offered: readonly Offered[]): Subject[] {
  return offered.flatMap((each) => [
    ...each[kind].map((name) => subjectOf({ kind, upstream: each.upstream, name })),
    ...(kind === 'resources' ? each.templates : []).map((name) =>
      subjectOf({ kind, upstream: each.upstream, name, template: true }),
    ),
  ]);
}

/** An upstream that did not answer may have what the pattern is about. */
function mayConcernUnseen(pattern: string, kind: JudgedKind, { upstreams, offered }: Surroundings): boolean {
  const unseen = upstreams.filter((key) => !offered.some((each) => each.upstream === key));
  if (kind === 'resources') return unseen.length > 0;
  const key = upstreamPart(pattern);
  return key.includes('*') ? unseen.length > 0 : namesOneOf(key, unseen);
}

/** A URI that no list holds may still be an expansion of a template. */
function mayBeExpanded(pattern: string, kind: JudgedKind, { offered }: Surroundings): boolean {
  if (kind !== 'resources') return false;
  const fixed = pattern.split('*', 1)[0] ?? '';
  const starts = offered.flatMap((each) => each.templates.map((template) => template.split('{', 1)[0] ?? ''));
  return starts.some((start) => start.startsWith(fixed) || fixed.startsWith(start));
}

function nothing(pattern: string, kind: JudgedKind, { upstreams }: Surroundings): string {
  const key = upstreamPart(pattern);
  if (kind === 'resources' || key.includes('*') || namesOneOf(key, upstreams)) return 'nothing that was found';
  const close = nearest(key, upstreams);
  return `nothing: no upstream is called ${quoted(key)}${close === undefined ? '' : `; did you mean ${close}?`}`;
}

/** Names are matched as `<upstream key>/<name>`. */
function upstreamPart(pattern: string): string {
  const [first = ''] = pattern.split('/', 1);
  return first;
}

function namesOneOf(pattern: string, keys: readonly string[]): boolean {
  const matches = compileGlob(pattern, { foldCase: true });
  return keys.some(matches);
}

function quoted(pattern: string): string {
  return JSON.stringify(pattern);
}
