import { z } from 'zod';
import type { Change } from '../ports/bus.ts';

const KINDS = ['tools', 'resources', 'prompts', 'updated'] as const;

/** What may be wrong with a body: one fixed sentence each. */
export const SENTENCES = {
  body: 'the body must be a JSON object',
  keys: 'only kind, upstream and uri are known',
  kind: 'kind must be tools, resources, prompts or updated',
  upstream: 'upstream must be the key of an upstream',
  uri: 'uri must be text that is not empty',
  noUri: 'uri is required where kind is updated',
  idleUri: 'uri has a meaning only where kind is updated',
} as const;

const body = z
  .strictObject(
    {
      kind: z.enum(KINDS, { error: SENTENCES.kind }),
      upstream: z.string({ error: SENTENCES.upstream }).min(1, { error: SENTENCES.upstream }).exactOptional(),
      uri: z.string({ error: SENTENCES.uri }).min(1, { error: SENTENCES.uri }).exactOptional(),
    },
    { error: ({ code }) => (code === 'unrecognized_keys' ? SENTENCES.keys : SENTENCES.body) },
  )
  .check(({ value: { kind, uri }, issues }) => {
    const input = uri;
    if (kind === 'updated' && uri === undefined) issues.push({ code: 'custom', input, message: SENTENCES.noUri });
    if (kind !== 'updated' && uri !== undefined) issues.push({ code: 'custom', input, message: SENTENCES.idleUri });
  });

/** A change as somebody outside words it. */
export type AskedChange = z.output<typeof body>;

/** Or the sentence that says what is wrong with it; the first of several. */
export function askedChange(value: unknown): AskedChange | { readonly problem: string } {
  const parsed = body.safeParse(value);
  return parsed.success ? parsed.data : { problem: parsed.error.issues[0]?.message ?? SENTENCES.body };
}

/** The changes it stands for: of its upstream or, where it names none, of every one. Undefined where it names one that is not there. */
export function changesOf({ kind, upstream, uri }: AskedChange, upstreams: readonly string[]): Change[] | undefined {
  if (upstream !== undefined && !upstreams.includes(upstream)) return undefined;
  const concerned = upstream === undefined ? upstreams : [upstream];
  return concerned.map((key): Change => {
    return kind === 'updated' ? { kind, upstream: key, uri: uri ?? '' } : { kind, upstream: key };
  });
}
