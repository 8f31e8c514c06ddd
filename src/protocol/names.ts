export interface NamedUpstream {
  /** Key in the configuration. */
  readonly upstream: string;
  readonly prefix: string;
  /** Names as the upstream lists them, any text, any order. */
  readonly originals: readonly string[];
}

export interface NamingOptions {
  readonly separator: string;
  /** At least 10: room for the hash and something before it. */
  readonly maxLength: number;
  /** At least 8 hex characters, the same for the same text, evenly spread (SHA-256 in the gateway). */
  readonly hash: (text: string) => string;
}

export interface Owned {
  readonly upstream: string;
  readonly original: string;
}

export interface NameTable {
  readonly byPublic: ReadonlyMap<string, Owned>;
  /** Undefined for what the upstream did not list. */
  publicOf(upstream: string, original: string): string | undefined;
}

/**
 * Public names of everything of one kind (tools, or prompts) that the upstreams list. A name is
 * `<prefix><separator><original>` where that is legal (`[A-Za-z0-9_.-]`, 1 to maxLength characters) and not taken by an
 * upstream before it; otherwise it is made legal, cut, and ends in `_` and 8 hex of a hash of (key, NUL, original). Each
 * original has exactly one name and each name one original. The order of `originals` does not matter; the order of
 * `upstreams` is that of the configuration, and no upstream changes a name of one before it.
 */
export function publicNames(upstreams: readonly NamedUpstream[], options: NamingOptions): NameTable {
  const byPublic = new Map<string, Owned>();
  const byUpstream = new Map<string, Map<string, string>>();
  for (const upstream of upstreams) {
    const names = new Map<string, string>();
    byUpstream.set(upstream.upstream, names);
    for (const [name, original] of namesOf(upstream, options, byPublic)) {
      byPublic.set(name, { upstream: upstream.upstream, original });
      names.set(original, name);
    }
  }
  return { byPublic, publicOf: (upstream, original) => byUpstream.get(upstream)?.get(original) };
}

/** Plain names first, so that no hashed name of this upstream can take one of its plain ones. */
function namesOf(
  { upstream, prefix, originals }: NamedUpstream,
  options: NamingOptions,
  taken: ReadonlyMap<string, unknown>,
): Map<string, string> {
  const names = new Map<string, string>();
  const hashed: string[] = [];
  const start = prefix === '' ? '' : prefix + options.separator;
  for (const original of new Set(originals)) {
    const plain = start + original;
    if (isLegal(plain, options.maxLength) && !taken.has(plain)) names.set(plain, original);
    else hashed.push(original);
  }
  for (const original of hashed.sort()) {
    const hash = options.hash(`${upstream}\0${original}`);
    const isFree = (name: string) => !taken.has(name) && !names.has(name);
    names.set(hashedName(start + original, hash, options.maxLength, isFree), original);
  }
  return names;
}

function isLegal(name: string, maxLength: number): boolean {
  return name.length <= maxLength && /^[A-Za-z0-9_.-]+$/.test(name);
}

/** Where a hashed name is taken too, which takes an upstream that computed it, the next number is. */
function hashedName(plain: string, hash: string, maxLength: number, isFree: (name: string) => boolean): string {
  const head = plain.replace(/[^A-Za-z0-9_.-]/gu, '_').slice(0, maxLength - 9);
  for (let number = Number.parseInt(hash.slice(0, 8), 16); ; number = (number + 1) % 2 ** 32) {
    const name = `${head}_${number.toString(16).padStart(8, '0')}`;
    if (isFree(name)) return name;
  }
}
