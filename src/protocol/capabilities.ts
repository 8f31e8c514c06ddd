import { carriedExtensions, type Extensions } from './extensions.ts';

/** What a server announces in its answer to `initialize` (MCP 2025-11-25, `ServerCapabilities`): the members the gateway makes, and what its upstreams announce beyond. */
export interface ServerCapabilities extends Extensions {
  readonly tools?: { readonly listChanged: true };
  readonly prompts?: { readonly listChanged: true };
  readonly resources?: { readonly listChanged: true; readonly subscribe?: true };
  readonly completions?: Readonly<Record<string, never>>;
  readonly logging?: Readonly<Record<string, never>>;
}

/**
 * What a client declares and the gateway carries (MCP 2025-11-25, `ClientCapabilities`). Values are the client's own, so
 * that what a later revision adds inside them reaches the upstream.
 */
export interface ClientCapabilities extends Extensions {
  readonly elicitation?: object;
  readonly sampling?: object;
  readonly roots?: object;
}

export const NO_CAPABILITIES: ClientCapabilities = {};

/** Declared where nobody in particular is behind a link, so that an upstream lists all it would offer to anybody. */
export const EVERY_CAPABILITY: ClientCapabilities = {
  elicitation: { form: {}, url: {} },
  sampling: { tools: {}, context: {} },
  roots: { listChanged: true },
};

/** The part of a client's declaration that the gateway carries. */
export function carriedCapabilities(declared: unknown): ClientCapabilities {
  const { elicitation, sampling, roots } = isObject(declared) ? declared : {};
  return {
    ...(isObject(elicitation) ? { elicitation } : {}),
    ...(isObject(sampling) ? { sampling } : {}),
    ...(isObject(roots) ? { roots } : {}),
    ...carriedExtensions(declared).carried,
  };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
