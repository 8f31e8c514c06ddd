import { compileGlob, matchesAnything } from '../policy/glob.ts';
import { hasOneReading } from '../policy/uri.ts';
import { matchesTemplate } from '../protocol/uri-template.ts';

/** What one upstream brings to the question who owns a URI. Given in the order of the configuration. */
export interface Claimant {
  readonly upstream: string;
  readonly mayOwn: Reach;
  /** Its capabilities announce resources. */
  readonly hasResources: boolean;
  readonly uris: readonly string[];
  readonly templates: readonly string[];
}

/** Which URIs and templates the `uris` key of an upstream leaves to it. */
export interface Reach {
  uri(uri: string): boolean;
  /** True if some expansion may be within reach: judged by the literal beginnings alone. */
  template(template: string): boolean;
}

export interface Clash {
  readonly uri: string;
  readonly upstream: string;
  readonly holder: string;
}

/** Upstream by the URI, or template, it holds. */
export type Holders = ReadonlyMap<string, string>;

const EVERYTHING: Reach = { uri: () => true, template: () => true };

/** `uris` of the configuration. A URI of more than one reading is within reach only of a glob for everything. */
export function reachOf(globs: readonly string[] | null | undefined): Reach {
  if (globs === null || globs === undefined || globs.some(matchesAnything)) return EVERYTHING;
  const matchers = globs.map((glob) => compileGlob(glob, { foldCase: false }));
  const heads = globs.map((glob) => literalHead(glob, '*'));
  return {
    uri: (uri) => matchers.some((matches) => matches(uri)) && hasOneReading(uri),
    template: (template) => {
      const head = literalHead(template, '{');
      return heads.some((other) => head.startsWith(other) || other.startsWith(head));
    },
  };
}

/**
 * Who holds each listed URI: who held it before, where it still lists it, else the first in the configuration. With no
 * `before` (until the gateway is ready) the order of arrival does not matter.
 */
export function holdersOf(
  listings: readonly { readonly upstream: string; readonly uris: readonly string[] }[],
  before: Holders = new Map(),
): { holders: Holders; clashes: readonly Clash[] } {
  const holders = new Map<string, string>();
  for (const { upstream, uris } of listings) {
    for (const uri of uris) if (before.get(uri) === upstream) holders.set(uri, upstream);
  }
  const clashes: Clash[] = [];
  for (const { upstream, uris } of listings) {
    for (const uri of uris) {
      const holder = holders.get(uri) ?? upstream;
      holders.set(uri, holder);
      if (holder !== upstream) clashes.push({ uri, upstream, holder });
    }
  }
  return { holders, clashes };
}

/**
 * The owner of a URI, never found by probing: who holds it, else the first upstream in the configuration with a template
 * that matches, else the only one with resources, else none.
 */
export function findOwner(uri: string, holders: Holders, claimants: readonly Claimant[]): string | undefined {
  const holder = holders.get(uri);
  if (holder !== undefined) return holder;
  const able = claimants.filter((claimant) => claimant.hasResources && claimant.mayOwn.uri(uri));
  const byTemplate = able.find(({ templates }) => templates.some((template) => mayExpandTo(template, uri)));
  return (byTemplate ?? (able.length === 1 ? able[0] : undefined))?.upstream;
}

/** The literal beginning is compared first: most templates need no more. */
function mayExpandTo(template: string, uri: string): boolean {
  return uri.startsWith(literalHead(template, '{')) && matchesTemplate(template, uri);
}

function literalHead(text: string, special: string): string {
  const end = text.indexOf(special);
  return end < 0 ? text : text.slice(0, end);
}
