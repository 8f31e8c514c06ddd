import { createSeal } from '../auth/seal.ts';
import { Spent } from '../auth/spent.ts';
import { compilePolicy, type Policy } from '../policy/access.ts';
import type { AuditSink } from '../ports/sink.ts';
import { CallRecorder } from '../session/call-recorder.ts';
import type { Gateway } from '../session/context.ts';
import { VendorMethods } from '../session/vendor-methods.ts';
import type { Shared } from './shared.ts';
import type { Upstreams } from './upstreams.ts';

/** How long `initialize` waits for upstreams that have said nothing yet, in milliseconds. */
const FIRST_ANSWERS_MS = 3000;

/** What sessions are made of. */
export interface SessionParts {
  readonly policy: Policy;
  readonly upstreams: Upstreams;
  readonly audit: AuditSink;
}

/** The gateway as its sessions see it. */
export function sessionGateway(shared: Shared, { policy, upstreams, audit }: SessionParts): Gateway {
  const { config, clock } = shared;
  const spent = new Spent(clock);
  return {
    ...shared,
    links: upstreams.pool,
    recorder: new CallRecorder({ ...shared, audit }),
    vendor: new VendorMethods(config.mcpServers),
    seal: createSeal(config.seal.keys, clock),
    spend: (nonce, expiresAt) => spent.spend(nonce, expiresAt),
    unspend: (nonce, expiresAt) => spent.forgive(nonce, expiresAt),
    limits: { ...config.limits, ...config.auth, ...config.timing },
    snapshot: () => upstreams.catalogue.snapshot,
    relistTools: (upstream) => upstreams.keeper.relistTools(upstream),
    grants: (principal) => policy.grants(principal),
    firstAnswers: () => upstreams.readiness.firstAnswers(FIRST_ANSWERS_MS),
  };
}

/** Throws one sentence where the policy cannot be compiled. */
export function policyOf({ config, meter }: Shared): Policy {
  const onError = (effect: 'allow' | 'deny') => meter.counter('policy_errors_total', { effect }).add();
  const compiled = compilePolicy(config.policy, config.auth.mode, { onError });
  if (!compiled.ok) throw new Error(compiled.problems.join('; '));
  return compiled.policy;
}
