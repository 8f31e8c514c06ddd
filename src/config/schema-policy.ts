import { z } from 'zod';
import type { PolicyRule } from '../policy/rule.ts';
import { claimTable } from './schema-auth.ts';
import { list, says, text } from './schema-kinds.ts';

const globs = (of: string) => list(`globs of ${of}`, text('a glob'));

const targets = z
  .strictObject({
    upstreams: says(
      globs('upstream keys').exactOptional(),
      'Narrows the kinds named beside it to these upstreams.',
      'all',
    ),
    tools: says(globs('`upstream/name`').exactOptional(), 'Tools.', 'none'),
    resources: says(globs('URIs').exactOptional(), 'Resources and resource templates.', 'none'),
    prompts: says(globs('`upstream/name`').exactOptional(), 'Prompts.', 'none'),
    methods: says(globs('`upstream/name`').exactOptional(), 'Vendor methods and notifications.', 'none'),
  })
  .refine(
    ({ upstreams: _narrows, ...kinds }) => Object.keys(kinds).length > 0,
    'matches nothing: name tools, resources, prompts or methods',
  );

const rule = z
  .strictObject({
    roles: says(
      list('text', text()).min(1, 'must name a role; leave it out for every role').exactOptional(),
      'The caller has any of these.',
      'every role',
    ),
    scopes: says(list('text', text()).exactOptional(), 'The caller has all of these.', '[]'),
    claims: says(claimTable.exactOptional(), 'Claims the caller has, with exactly this value or one of these.', '{}'),
    when: says(
      text('a CEL expression').exactOptional(),
      'CEL over principal, target and arguments that is true; see docs/policy.md.',
      'true',
    ),
    allow: says(targets.exactOptional(), 'What the rule allows.'),
    deny: says(targets.exactOptional(), 'What the rule denies, whatever allows it.'),
  })
  .transform(({ allow, deny, ...conditions }, context): PolicyRule => {
    if (allow !== undefined && deny === undefined) return { ...conditions, allow };
    if (deny !== undefined && allow === undefined) return { ...conditions, deny };
    context.addIssue({ code: 'custom', message: 'must have exactly one of allow and deny' });
    return z.NEVER;
  });

export const policySchema = z
  .union([z.literal('allow-authenticated'), list('rules', rule)], {
    error: 'must be a list of rules, null, or the word allow-authenticated',
  })
  .nullable()
  .meta({ kind: 'list of rules, null, or the word allow-authenticated' });
