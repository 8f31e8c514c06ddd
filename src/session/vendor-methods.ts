import type { Grants } from '../policy/access.ts';
import { compileGlob, type Glob } from '../policy/glob.ts';

/** Longest method that is looked at, in UTF-16 units: matching costs its length, and it is written down. */
const MAX_METHOD = 256;

/** Which upstream serves a method that is none of MCP's own, as the key `methods` of each says. */
export class VendorMethods {
  private readonly globs: ReadonlyMap<string, readonly Glob[]>;

  /** In the order of the configuration, which has judged that no glob matches a method of MCP's own. */
  constructor(upstreams: readonly { readonly key: string; readonly methods: readonly string[] }[]) {
    const serving = upstreams.filter(({ methods }) => methods.length > 0);
    this.globs = new Map(
      serving.map(({ key, methods }) => [key, methods.map((glob) => compileGlob(glob, { foldCase: false }))]),
    );
  }

  /** The first upstream that serves it. */
  ownerOf(method: string): string | undefined {
    for (const upstream of this.globs.keys()) if (this.serves(upstream, method)) return upstream;
    return undefined;
  }

  /** Whether a notification that came from this upstream, or goes to it, may pass to or from a client with these grants. */
  passes(upstream: string, method: string, grants: Grants): boolean {
    return (
      this.serves(upstream, method) && grants.decide({ kind: 'methods', upstream, name: method }).effect === 'allow'
    );
  }

  private serves(upstream: string, method: string): boolean {
    return method.length <= MAX_METHOD && this.globs.get(upstream)?.some((matches) => matches(method)) === true;
  }
}
