import { z } from 'zod';
import { keysSchema } from './schema-keys.ts';
import { duration, type Immutable, list, oneOf, says, table, text } from './schema-kinds.ts';
import { hasUserinfo, isSafeToFetch, parseUrl } from './schema-loopback.ts';

const claimPath = z
  .union([text('a claim name'), z.array(text('a claim name')).min(1)], {
    error: 'must be the name of a claim, or a list that is a path to one',
  })
  .meta({ kind: 'text, or list of text' });

/** What a claim can be compared with exactly; a fraction or a number beyond 2^53 would not survive the comparison. */
export const claimValue = z.union([z.string(), z.boolean(), z.int()], {
  error: 'must be text, a whole number, true or false',
});

/** A claim's value, or a list of values of which any will do. */
export const claimTable = z
  .record(
    z.string(),
    z.union([claimValue, z.array(claimValue).min(1)], {
      error: 'must be text, a whole number, true, false, or a list of these',
    }),
  )
  .meta({ kind: 'mapping to a value or a list of values' });

const audienceClaim = z.strictObject({
  claim: says(text('a claim name'), 'The claim that stands for the audience, for tokens without `aud`.'),
  values: says(list('text', text()).min(1, 'must name at least one value'), 'The values it may have.'),
});

const audience = z
  .union([list('text', text()).min(1, 'must name at least one audience'), audienceClaim], {
    error: 'must be a list of text, or { claim, values }',
  })
  .meta({ kind: 'list of text, or mapping' });

const claims = z.strictObject({
  id: says(claimPath.prefault('sub'), 'Where the id of the caller is.'),
  roles: says(claimPath.prefault('roles'), 'Where its roles are.'),
  scopes: says(claimPath.prefault('scope'), 'Where its scopes are.'),
});

const roles = z.strictObject({
  map: says(table('text', text('the name of a role')).prefault({}), 'New names of roles.'),
  allowed: says(list('text', text()).nullable().prefault(null), 'The roles that count, after renaming; null for all.'),
});

const ASYMMETRIC = ['ES256', 'RS256', 'EdDSA', 'ES384', 'ES512', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'] as const;
const algorithm = oneOf(...ASYMMETRIC, 'HS256');
type Algorithm = z.output<typeof algorithm>;
const FETCHED_ALGORITHMS: readonly Algorithm[] = ['ES256', 'RS256', 'EdDSA'];

const issuer = z
  .strictObject({
    issuer: says(text(), 'The exact `iss` of its tokens.'),
    audience: says(audience.exactOptional(), 'The audiences its tokens may name.', '[auth.resource]'),
    algorithms: says(
      list('text', algorithm).min(1, 'must name at least one algorithm').exactOptional(),
      'The signature algorithms it may use; a secret means HS256 alone.',
      '[ES256, RS256, EdDSA], [HS256] with a secret',
    ),
    keys: keysSchema,
    claims: claims.prefault({}),
    require: says(claimTable.prefault({}), 'Claims a token must have, with exactly this value or one of these.'),
    roles: roles.prefault({}),
  })
  .transform((entry, context) => {
    const { source } = entry.keys;
    const algorithms = entry.algorithms ?? (source === 'secret' ? (['HS256'] as const) : FETCHED_ALGORITHMS);
    if (algorithms.some((name) => (name === 'HS256') !== (source === 'secret'))) {
      const message = source === 'secret' ? 'must be [HS256] with a secret' : 'must not name HS256 without a secret';
      context.addIssue({ code: 'custom', message, path: ['algorithms'] });
    }
    if (source === 'discovery' && !isSafeToFetch(entry.issuer)) {
      context.addIssue({
        code: 'custom',
        message: 'must be an https URL, or http to loopback, for discovery',
        path: ['issuer'],
      });
    }
    return { ...entry, algorithms: [...algorithms] };
  });

type Issuer = Omit<z.output<typeof issuer>, 'audience'> & { audience: z.output<typeof audience> };

/** A fingerprint by another hash than SHA-256 would never match. */
const certificateName = text(
  'a DNS name, URI or mail address, a subject such as CN=robot,O=Acme, or a SHA-256 fingerprint',
  (value) => !/^[0-9a-f]{2}(:[0-9a-f]{2})+$/i.test(value) || value.length === 95,
);

const certificate = z.strictObject({
  san: says(certificateName, 'Exact subject alternative name, full subject (RFC 4514) or SHA-256 fingerprint.'),
  id: says(text(), 'The id of who holds it; the issuer is `x509`.'),
  roles: says(list('text', text()).prefault([]), 'Its roles.'),
});

/** RFC 9728 section 1.2: a URL without fragment. */
const resource = text('an http or https URL without fragment, user name and password', (value) => {
  const url = parseUrl(value);
  return url !== undefined && /^https?:$/.test(url.protocol) && !value.includes('#') && !hasUserinfo(url);
});

const auth = z.strictObject({
  mode: says(oneOf('jwt', 'anonymous'), 'How callers are known; anonymous on a loopback listener only.'),
  resource: says(
    resource.exactOptional(),
    'RFC 9728 resource identifier: the public URL, default audience and allowed Host; required in jwt mode.',
  ),
  requiredScopes: says(list('text', text()).prefault([]), 'Scopes every token must have.'),
  clockTolerance: says(duration('zero').prefault('30s'), 'How far clocks may differ.'),
  maxTokenLife: says(duration().prefault('24h'), 'Longest time from issue to expiry of a token.'),
  expiryGrace: says(duration('zero').prefault('10s'), 'How long calls under way may take once the token has expired.'),
  anonymousRoles: says(list('text', text()).prefault(['anonymous']), 'Roles of every caller in anonymous mode.'),
  certificates: says(
    list('mappings', certificate).prefault([]),
    'Client certificates and whom they stand for, where a caller sends no token; the first entry that fits decides.',
  ),
  issuers: says(list('mappings', issuer).prefault([]), 'Who issues tokens; at least one in jwt mode.'),
});

type Common = Omit<z.output<typeof auth>, 'mode' | 'resource' | 'issuers'>;
type Auth = (Common & { mode: 'jwt'; resource: string; issuers: Issuer[] }) | (Common & { mode: 'anonymous' });

/** What authentication does in each mode; only jwt mode has a resource and issuers. */
export type AuthConfig = Immutable<Auth>;
export type JwtAuth = Extract<AuthConfig, { mode: 'jwt' }>;
export type IssuerConfig = JwtAuth['issuers'][number];
export type AudienceRule = IssuerConfig['audience'];
export type ClaimPath = IssuerConfig['claims']['id'];

export const authSchema = auth.transform(({ mode, resource: url, issuers, ...common }, context): Auth => {
  if (mode === 'anonymous') return { mode, ...common };
  if (url === undefined) context.addIssue({ code: 'custom', message: 'is required in jwt mode', path: ['resource'] });
  if (issuers.length === 0)
    context.addIssue({ code: 'custom', message: 'must name at least one issuer in jwt mode', path: ['issuers'] });
  for (const index of repeated(issuers.map((entry) => entry.issuer))) {
    context.addIssue({
      code: 'custom',
      message: 'is the issuer of an earlier entry',
      path: ['issuers', index, 'issuer'],
    });
  }
  if (url === undefined) return z.NEVER;
  return {
    mode,
    resource: url,
    issuers: issuers.map((entry) => ({ ...entry, audience: entry.audience ?? [url] })),
    ...common,
  };
});

function repeated(values: readonly string[]): number[] {
  return values.flatMap((value, index) => (values.indexOf(value) < index ? [index] : []));
}
