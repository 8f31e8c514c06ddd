import { field, type Request, stringField } from '../protocol/envelope.ts';
import { type Era, MODERN_VERSION_KEY } from '../protocol/era.ts';
import { INVALID_REQUEST, type WireError } from '../protocol/errors.ts';
import { envelopeProblem, unsupportedVersion } from '../protocol/modern.ts';

/** `settles`: from this request on the socket is of that era. */
export type EraChoice = { readonly era: Era; readonly settles: boolean } | { readonly refuse: WireError };

const OTHER_ERA = { code: INVALID_REQUEST, message: 'This connection opened with initialize: send no envelope' };

/**
 * Which era a request belongs to. A socket takes the era of its first request other than `server/discover` and keeps it:
 * `initialize` opens the handshake era, a valid envelope the modern one; the opening of the other era is then refused.
 */
export function chooseEra(request: Request, current: Era | undefined): EraChoice {
  const claims = field(request.meta, MODERN_VERSION_KEY) !== undefined;
  if (current === 'handshake') return claims ? { refuse: OTHER_ERA } : { era: 'handshake', settles: false };
  if (request.method === 'initialize' && !claims) return initialize(request, current);
  const probes = request.method === 'server/discover';
  if (current === undefined && !claims && !probes) return { era: 'handshake', settles: false };
  const problem = envelopeProblem(request);
  if (problem !== undefined) return { refuse: problem };
  return { era: 'modern', settles: !probes };
}

function initialize(request: Request, current: Era | undefined): EraChoice {
  if (current === undefined) return { era: 'handshake', settles: true };
  return { refuse: unsupportedVersion(stringField(request.text, request.params, 'protocolVersion') ?? '') };
}
