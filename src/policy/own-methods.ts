import { compileGlob, fold, mayBeginWith } from './glob.ts';

/** The requests of MCP, in both directions, of every revision from 2024-11-05 to 2026-07-28. */
const REQUESTS = [
  'completion/complete',
  'elicitation/create',
  'initialize',
  'logging/setLevel',
  'ping',
  'prompts/get',
  'prompts/list',
  'resources/list',
  'resources/read',
  'resources/subscribe',
  'resources/templates/list',
  'resources/unsubscribe',
  'roots/list',
  'sampling/createMessage',
  'server/discover',
  'subscriptions/listen',
  'tools/call',
  'tools/list',
].map(fold);

/** What begins so is not for vendors either: MCP's notifications and tasks, what JSON-RPC 2.0 keeps for itself (section 4), and the gateway's own. */
const FAMILIES = ['notifications/', 'tasks/', 'rpc.', 'ws-gateway/'];

/** True for a glob of methods that would match one of MCP's own, in any spelling of case: no upstream may serve it as a vendor's. */
export function concernsOwnMethod(glob: string): boolean {
  const folded = fold(glob);
  const matches = compileGlob(folded, { foldCase: false });
  return REQUESTS.some(matches) || FAMILIES.some((family) => mayBeginWith(folded, family));
}
