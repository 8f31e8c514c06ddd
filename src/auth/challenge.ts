import type { RefusedReason } from '../ports/verifier.ts';

/** What the challenge and the metadata need of the configuration's `auth` part. */
export interface ResourceOptions {
  /** The resource identifier, an absolute http(s) URL. */
  readonly resource: string;
  readonly requiredScopes: readonly string[];
  readonly issuers: readonly { readonly issuer: string }[];
}

/** RFC 9728 section 2. */
export interface ProtectedResourceMetadata {
  readonly resource: string;
  readonly authorization_servers?: readonly string[];
  readonly scopes_supported?: readonly string[];
  readonly bearer_methods_supported: readonly ['header'];
}

const WELL_KNOWN = '/.well-known/oauth-protected-resource';

/** What a refused caller is told, a fixed text a reason. */
const DESCRIPTIONS: Readonly<Record<RefusedReason, string>> = {
  malformed: 'The token is not a signed JWT',
  unknown_issuer: 'The issuer of the token is not accepted',
  bad_signature: 'The signature of the token is not valid',
  bad_algorithm: 'The algorithm of the token is not accepted',
  unknown_key: 'The key of the token is not known',
  expired: 'The token has expired',
  not_yet_valid: 'The token is not valid yet',
  no_expiry: 'The token has no expiry',
  life_too_long: 'The life of the token is too long',
  wrong_audience: 'The token is not meant for this resource',
  missing_claim: 'The token lacks a required claim',
  no_subject: 'The token names no subject',
};

/** The fixed text for a refusal, for a 401's body. */
export function refusalText(reason: RefusedReason): string {
  return DESCRIPTIONS[reason];
}

/** `WWW-Authenticate` of a 401 without a token: no error code, so that a client starts authorizing (RFC 6750 section 3.1). */
export function missingTokenChallenge(options: ResourceOptions): string {
  return bearer([metadataParameter(options), ...scopeParameter(options)]);
}

/** `WWW-Authenticate` of a 401 for a refused token. */
export function invalidTokenChallenge(options: ResourceOptions, reason: RefusedReason): string {
  const error = [parameter('error', 'invalid_token'), parameter('error_description', refusalText(reason))];
  return bearer([...error, metadataParameter(options), ...scopeParameter(options)]);
}

/** `WWW-Authenticate` of a 401 for a refused ticket: one text for whatever is wrong with it. */
export function invalidTicketChallenge(options: ResourceOptions): string {
  const error = [parameter('error', 'invalid_token'), parameter('error_description', 'The ticket is not valid')];
  return bearer([...error, metadataParameter(options), ...scopeParameter(options)]);
}

/** `WWW-Authenticate` of a 403 for a good token without the required scopes (RFC 6750 section 3.1, RFC 9728 section 5.1). */
export function insufficientScopeChallenge(options: ResourceOptions): string {
  const error = [
    parameter('error', 'insufficient_scope'),
    parameter('error_description', 'The token lacks a required scope'),
  ];
  return bearer([...error, metadataParameter(options), ...scopeParameter(options)]);
}

/** The metadata document. An issuer that is no http(s) URL (a development secret's) is no authorization server and left out. */
export function protectedResourceMetadata(options: ResourceOptions): ProtectedResourceMetadata {
  const servers = options.issuers.map((entry) => entry.issuer).filter(isHttpUrl);
  return {
    resource: options.resource,
    ...(servers.length > 0 && { authorization_servers: servers }),
    ...(options.requiredScopes.length > 0 && { scopes_supported: options.requiredScopes }),
    bearer_methods_supported: ['header'],
  };
}

/** The paths the document is served at: the bare one, and the one with the resource's own path (RFC 9728 section 3.1). */
export function metadataPaths(resource: string): readonly string[] {
  const full = WELL_KNOWN + pathOf(new URL(resource));
  return full === WELL_KNOWN ? [WELL_KNOWN] : [WELL_KNOWN, full];
}

/** The absolute URL of the document (RFC 9728 section 3: the well-known part goes between host and path). */
export function metadataUrl(resource: string): string {
  const url = new URL(resource);
  return `${url.origin}${WELL_KNOWN}${pathOf(url)}${url.search}`;
}

function pathOf(url: URL): string {
  return url.pathname === '/' ? '' : url.pathname;
}

function bearer(parameters: readonly string[]): string {
  return `Bearer ${parameters.join(', ')}`;
}

function metadataParameter(options: ResourceOptions): string {
  return parameter('resource_metadata', metadataUrl(options.resource));
}

function scopeParameter(options: ResourceOptions): readonly string[] {
  return options.requiredScopes.length === 0 ? [] : [parameter('scope', options.requiredScopes.join(' '))];
}

/** A quoted-string (RFC 9110 section 5.6.4); what no header may hold is left out. */
function parameter(name: string, value: string): string {
  const safe = value.replaceAll(/[^\x20-\x7e]/g, '').replaceAll(/["\\]/g, '\\$&');
  return `${name}="${safe}"`;
}

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && ['https:', 'http:'].includes(new URL(text).protocol);
}
