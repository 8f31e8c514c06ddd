import { z } from 'zod';
import { PREFIX } from '../names.ts';

const VERBS = ['search', 'create', 'update', 'delete', 'export'];
const NOUNS = ['issues', 'orders', 'invoices', 'customers', 'shipments', 'documents', 'alerts', 'builds'];

/** A thousand tools of the size that servers for real systems have, in the order of their names. */
export const TOOLS = Array.from({ length: 1000 }, (_, at) => {
  const noun = NOUNS[at % NOUNS.length] ?? '';
  const verb = VERBS[at % VERBS.length] ?? '';
  return {
    name: `${PREFIX}${String(at).padStart(4, '0')}_${verb}_${noun}`,
    title: `${verb} ${noun}`,
    description: `Use this to ${verb} ${noun} of one project. Give a query in plain words, or labels, or both; the newest ${noun} come first unless an order is given. Needs access to the project.`,
    inputSchema: inputOf(noun),
    annotations: { readOnlyHint: verb === 'search', openWorldHint: true },
  };
});

function inputOf(noun: string) {
  return z.object({
    project: z.string().min(1).describe(`The project the ${noun} belong to, as owner/name`),
    query: z.string().max(500).optional().describe(`Words that the ${noun} must hold`),
    labels: z.array(z.string()).max(20).optional().describe(`Labels, all of which the ${noun} must carry`),
    order: z.enum(['newest', 'oldest', 'relevance']).default('newest').describe('Which come first'),
    limit: z.number().int().min(1).max(200).default(50).describe(`How many ${noun} at most`),
    since: z.iso.date().optional().describe('Nothing older than this day'),
    archived: z.boolean().default(false).describe(`Whether archived ${noun} count as well`),
  });
}
