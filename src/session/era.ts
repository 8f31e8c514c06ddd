import { field, type Request, stringField } from '../protocol/envelope.ts';
import { type Era, MODERN_VERSION_KEY } from '../protocol/era.ts';
import { INVALID_REQUEST, type WireError } from '../protocol/errors.ts';
import { envelopeProblem, unsupportedVersion } from '../protocol/modern.ts';

export interface TakenEra {
  readonly era: Era;
  /** The socket is of that era once this request is admitted; of the handshake era, once it is answered with a result. */
  readonly settles: boolean;
}

export type EraChoice = TakenEra | { readonly refuse: WireError };

const OTHER_ERA = { code: INVALID_REQUEST, message: 'This connection opened with initialize: send no envelope' };

/**
 * Which era a request belongs to. A socket takes the era that its first request other than `server/discover` opens and
 * keeps it: `initialize` opens the handshake era, a valid envelope the modern one; a refused request opens none. The
 * opening of the other era is then refused.
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
