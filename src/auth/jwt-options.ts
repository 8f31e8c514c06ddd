/** The configuration's `auth` as the verifier needs it. All durations in milliseconds. */
export interface JwtOptions {
  /** RFC 9728 resource identifier; the audience of issuers that name none. */
  readonly resource: string;
  readonly clockTolerance: number;
  readonly maxTokenLife: number;
  /** Each issuer once. */
  readonly issuers: readonly IssuerOptions[];
}

export interface IssuerOptions {
  /** Compared exactly with `iss`. */
  readonly issuer: string;
  readonly audience?: Audience | null | undefined;
  /** Absent: by the kind of key. */
  readonly algorithms?: readonly string[] | null | undefined;
  readonly keys: KeyOptions;
  readonly claims: ClaimPaths;
  /** Claims that must be there with exactly this value; a list means any of it. */
  readonly require: Readonly<Record<string, RequiredValue>>;
  readonly roles: { readonly map: Readonly<Record<string, string>>; readonly allowed: readonly string[] | null };
}

/** Accepted values of `aud`; or of another claim, for issuers whose tokens have no `aud`. */
export type Audience = readonly string[] | { readonly claim: string; readonly values: readonly string[] };

/** A string is the literal name of one claim, dots and all; a list is a path into nested objects. */
export type ClaimPath = string | readonly string[];

export interface ClaimPaths {
  readonly id: ClaimPath;
  readonly roles: ClaimPath;
  readonly scopes: ClaimPath;
}

type Scalar = string | number | boolean;
export type RequiredValue = Scalar | readonly Scalar[];

export type KeyOptions =
  | ({ readonly jwksUri: string } & RemoteTimes)
  | ({ readonly discovery: true } & RemoteTimes)
  | { readonly jwksFile: string }
  | { readonly secret: string };

/** How keys of a server are kept. */
export interface RemoteTimes {
  /** For one whole attempt: discovery and key set together. */
  readonly timeout: number;
  /** Keys older than this are fetched again before they are used. */
  readonly cacheMaxAge: number;
  /** Between two attempts, whatever asks for them. */
  readonly cooldown: number;
  /** How long beyond `cacheMaxAge` keys still serve while the server fails. */
  readonly staleIfError: number;
}

/** The claim at a path; undefined when any step is missing. Own properties only: names may come from a token. */
export function claimAt(claims: Readonly<Record<string, unknown>>, path: ClaimPath): unknown {
  let value: unknown = claims;
  for (const step of typeof path === 'string' ? [path] : path) {
    if (!isRecord(value) || !Object.hasOwn(value, step)) return undefined;
    value = value[step];
  }
  return value;
}

/** The values of which a required claim must have one. */
export function acceptedValues(wanted: RequiredValue): readonly Scalar[] {
  return typeof wanted === 'object' ? wanted : [wanted];
}

/** A JSON object, neither a list nor null. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
