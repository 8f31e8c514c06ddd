import { TypeError as CelTypeError, Environment, ParseError, type ParseResult } from '@marcbachmann/cel-js';
import type { Principal } from '../auth/principal.ts';
import { readsOf } from './cel-reads.ts';
import { celFromJson, celFromValue } from './cel-value.ts';

/** What an expression is evaluated over. What it reads must be there. */
export interface Facts {
  readonly principal: Principal;
  readonly target?: CelTarget;
  /** JSON text of an object; over 64 KiB it is an error. */
  readonly argumentsText?: string;
}

export interface CelTarget {
  readonly kind: string;
  readonly upstream: string;
  readonly name: string;
  /** Empty for what has none. */
  readonly uri: string;
}

/** The compiled `when` of a rule. */
export interface When {
  readonly readsTarget: boolean;
  readonly readsArguments: boolean;
  /** The parts of the principal that the expression reads, as JSON values: equal parts, equal outcome. */
  readsOf(principal: Principal): readonly unknown[];
  /** Throws when the expression cannot be evaluated: a missing key, a type that does not fit, arguments over the limit. */
  evaluate(facts: Facts): boolean;
}

export type WhenResult =
  | { readonly ok: true; readonly when: When }
  /** A sentence. */
  | { readonly ok: false; readonly problem: string };

/** In UTF-16 code units of the JSON text. */
const MAX_ARGUMENTS = 64 * 1024;

const environment = new Environment()
  .registerVariable('principal', {
    schema: {
      issuer: 'string',
      id: 'string',
      roles: 'list<string>',
      scopes: 'list<string>',
      claims: 'map<string, dyn>',
      address: 'string',
      via: 'string',
    },
  })
  .registerVariable('target', { schema: { kind: 'string', upstream: 'string', name: 'string', uri: 'string' } })
  .registerVariable('arguments', 'map<string, dyn>');

/** Parses and type-checks an expression of CEL. Refuses what is not of type bool and what a caller could make slow. */
export function compileWhen(text: string): WhenResult {
  let run: ParseResult;
  try {
    run = environment.parse(text);
  } catch (error) {
    return { ok: false, problem: sentence(error) };
  }
  const reads = readsOf(run.ast);
  if (reads.refused !== undefined) return { ok: false, problem: reads.refused };
  const check = run.check();
  if (!check.valid) return { ok: false, problem: sentence(check.error) };
  if (check.type !== 'bool') return { ok: false, problem: `the expression must be of type bool, it is ${check.type}.` };
  return {
    ok: true,
    when: {
      readsTarget: reads.target,
      readsArguments: reads.arguments,
      readsOf: (principal) => reads.principal.map((path) => partOf(principal, path)),
      evaluate: (facts) => evaluate(run, facts),
    },
  };
}

function evaluate(run: ParseResult, facts: Facts): boolean {
  const context: Record<string, unknown> = { principal: viewOf(facts.principal) };
  if (facts.target !== undefined) context.target = facts.target;
  if (facts.argumentsText !== undefined) context.arguments = argumentsOf(facts.argumentsText);
  const result: unknown = run(context);
  if (typeof result !== 'boolean') throw new TypeError('the expression is not of type bool');
  return result;
}

function argumentsOf(text: string): unknown {
  if (text.length > MAX_ARGUMENTS) throw new RangeError('arguments over the limit');
  const value = celFromJson(text);
  if (!(value instanceof Map)) throw new TypeError('arguments are not an object');
  return value;
}

/** Made once for a principal, which never changes. */
const views = new WeakMap<Principal, object>();

function viewOf(principal: Principal): object {
  const known = views.get(principal);
  if (known !== undefined) return known;
  const view = { ...fieldsOf(principal), claims: celFromValue(principal.claims) };
  views.set(principal, view);
  return view;
}

function fieldsOf({ issuer, id, roles, scopes, claims, address, via }: Principal) {
  return { issuer, id, roles, scopes, claims, address, via };
}

/** An absent claim and one that is null differ. */
function partOf(principal: Principal, path: readonly string[]): unknown {
  const [field, claim] = path;
  const fields = new Map<string, unknown>(Object.entries(fieldsOf(principal)));
  if (field === undefined) return [...fields];
  if (field !== 'claims' || claim === undefined) return fields.get(field);
  return Object.hasOwn(principal.claims, claim) ? [principal.claims[claim]] : [];
}

/** The library's message without its drawing of the source, and where in the expression it is. */
function sentence(error: unknown): string {
  if (!(error instanceof ParseError || error instanceof CelTypeError)) return 'the expression cannot be read.';
  const at = error.range === undefined ? '' : ` (at character ${error.range.start + 1})`;
  return `${error.summary}${at}.`;
}
