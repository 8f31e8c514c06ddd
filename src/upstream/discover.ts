import { z } from 'zod';
import type { Peer } from '../ports/link.ts';
import { MODERN_VERSIONS } from '../protocol/era.ts';
import { AnsweredError } from '../protocol/errors.ts';
import { UNSUPPORTED_VERSION } from '../protocol/modern.ts';
import { isModest } from '../protocol/modest.ts';

const [REVISION] = MODERN_VERSIONS;
const Revisions = z.array(z.string());
const DiscoverResult = z.object({
  supportedVersions: Revisions,
  capabilities: z.record(z.string(), z.unknown()),
  instructions: z.string().optional(),
});
const Unsupported = z.object({ supported: Revisions });

/** The peer is of the modern era and yet does not take its requests: the other era would not help. */
export class UnusableUpstream extends Error {
  constructor(cause: Error) {
    super('the answer to server/discover refuses the revision it names as supported', { cause });
    this.name = 'UnusableUpstream';
  }
}

/**
 * The client's side of `server/discover` (MCP 2026-07-28, Discovery). Rejects when the answer is not one of a peer that
 * speaks the gateway's revision of the modern era.
 */
export async function discover(ask: (method: string) => Promise<string>): Promise<Peer> {
  const answer = DiscoverResult.safeParse(JSON.parse(modest(await ask('server/discover').catch(usable))));
  if (!answer.success) throw new Error('the answer to server/discover is not one of the modern era');
  const { supportedVersions, capabilities, instructions } = answer.data;
  if (!supportedVersions.includes(REVISION)) throw new Error(`the upstream does not speak ${REVISION}`);
  return { era: 'modern', protocolVersion: REVISION, capabilities, instructions };
}

/** The text itself, if it is one that the gateway may write down and compare. */
export function modest(text: string): string {
  if (isModest(text, { start: 0, end: text.length })) return text;
  throw new Error('what the upstream says of itself is too large or nested too deeply');
}

function usable(cause: unknown): never {
  if (cause instanceof AnsweredError && cause.error.code === UNSUPPORTED_VERSION) {
    const data = Unsupported.safeParse(cause.error.data);
    if (data.success && data.data.supported.includes(REVISION)) throw new UnusableUpstream(cause);
  }
  throw cause;
}
