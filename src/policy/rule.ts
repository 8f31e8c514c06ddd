/**
 * What a rule is about. Patterns are globs (`*` within a segment, `**` across). `tools`, `prompts` and `methods` match
 * `<upstream key>/<original name>`, `resources` the URI or the text of a URI template, `upstreams` the upstream's key. A
 * kind that is not named does not match; `upstreams` only narrows the kinds that are.
 */
export interface Targets {
  readonly upstreams?: readonly string[];
  readonly tools?: readonly string[];
  readonly resources?: readonly string[];
  readonly prompts?: readonly string[];
  readonly methods?: readonly string[];
}

/** Whom a rule is about; everything that is present must hold. */
export interface Conditions {
  /** The caller has any of these. */
  readonly roles?: readonly string[];
  /** The caller holds all of these. */
  readonly scopes?: readonly string[];
  /** Each claim equals the value exactly; a list here means any of its members, a claim that is a list contains it. */
  readonly claims?: Readonly<Record<string, unknown>>;
  /** CEL over `principal`, `target` and `arguments`, of type bool. */
  readonly when?: string;
}

/** One rule of the policy: exactly one of `allow` and `deny`. */
export type PolicyRule = Conditions &
  ({ readonly allow: Targets; readonly deny?: never } | { readonly deny: Targets; readonly allow?: never });

/** The policy as configured: rules, the word that opens, null for "deny all"; undefined where the key is absent. */
export type PolicySource = 'allow-authenticated' | readonly PolicyRule[] | null | undefined;
