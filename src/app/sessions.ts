import { tokenRenewal } from '../auth/renewal.ts';
import { SpentByPrincipal } from '../auth/spent-by-principal.ts';
import { compilePolicy, type Policy } from '../policy/access.ts';
import type { Seal } from '../ports/seal.ts';
import type { AuditSink } from '../ports/sink.ts';
import type { Renewal, Verifier } from '../ports/verifier.ts';
import { CallRecorder } from '../session/call-recorder.ts';
import type { Gateway } from '../session/context.ts';
import { Rates } from '../session/rates.ts';
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
  readonly seal: Seal;
  /** Absent in anonymous mode. */
  readonly verifier: Verifier | undefined;
}

/** The gateway as its sessions see it. */
export function sessionGateway(shared: Shared, { policy, upstreams, audit, seal, verifier }: SessionParts): Gateway {
  const { config, clock } = shared;
  const spent = new SpentByPrincipal(clock);
  return {
    ...shared,
    links: upstreams.pool,
    recorder: new CallRecorder({ ...shared, audit }),
    vendor: new VendorMethods(config.mcpServers),
    rates: new Rates(config.limits.requestsPerSecond, clock),
    random: Math.random,
    seal,
    spend: (principal, nonce, expiresAt) => spent.spend(principal, nonce, expiresAt),
    unspend: (principal, nonce, expiresAt) => spent.forgive(principal, nonce, expiresAt),
    renewal: renewalBy(verifier, shared),
    limits: { ...config.limits, ...config.auth, ...config.timing },
    snapshot: () => upstreams.catalogue.snapshot,
    relistTools: (upstream) => upstreams.keeper.relistTools(upstream),
    grants: (principal) => policy.grants(principal),
    firstAnswers: () => upstreams.readiness.firstAnswers(FIRST_ANSWERS_MS),
  };
}

function renewalBy(verifier: Verifier | undefined, { config, meter }: Shared): Renewal | undefined {
  const { auth } = config;
  return verifier === undefined || auth.mode === 'anonymous' ? undefined : tokenRenewal(verifier, auth, meter);
}

/** Throws one sentence where the policy cannot be compiled. */
export function policyOf({ config, meter }: Shared): Policy {
  const onError = (effect: 'allow' | 'deny') => meter.counter('policy_errors_total', { effect }).add();
  const compiled = compilePolicy(config.policy, config.auth.mode, { onError });
  if (!compiled.ok) throw new Error(compiled.problems.join('; '));
  return compiled.policy;
}
