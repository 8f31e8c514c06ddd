import type { Problem } from './problem.ts';
import type { Config } from './schema.ts';
import { isLoopback } from './schema-loopback.ts';
import { tlsChecks } from './tls-checks.ts';

/** What no key shows alone: rules between keys of a configuration whose every key is right. */
export function crossChecks(config: Config): Problem[] {
  return [
    ...openListener(config),
    ...unheardProxies(config),
    ...tlsChecks(config),
    ...policyChecks(config),
    ...lonelySeal(config),
  ];
}

/** Keys that end with the process open nothing another replica sealed, and prove nothing to it. */
function lonelySeal({ bus, seal }: Config): Problem[] {
  if (bus === null || seal.keys.length > 0) return [];
  return [{ path: ['seal', 'keys'], text: 'must hold a key beside bus: replicas share it' }];
}

/** Whoever reaches the listener could be anyone, or sign for anyone: not beyond this machine. */
function openListener({ auth, listen }: Config): Problem[] {
  if (isLoopback(listen.host)) return [];
  if (auth.mode === 'anonymous')
    return [{ path: ['auth', 'mode'], text: 'anonymous needs listen.host to be a loopback address' }];
  return auth.issuers.flatMap((issuer, index) =>
    issuer.keys.source === 'secret'
      ? [{ path: ['auth', 'issuers', index, 'keys', 'secret'], text: 'needs listen.host to be a loopback address' }]
      : [],
  );
}

function unheardProxies({ auth, listen }: Config): Problem[] {
  if (auth.mode !== 'anonymous' || listen.trustedProxies.length === 0) return [];
  const text = 'needs jwt mode: in anonymous mode an upgrade that came through a proxy is refused';
  return [{ path: ['listen', 'trustedProxies'], text }];
}

function policyChecks({ auth, policy }: Config): Problem[] {
  if (auth.mode === 'jwt' && policy === undefined) {
    return [
      {
        path: ['policy'],
        text: 'is required in jwt mode: a list of rules, null to deny all, or the word allow-authenticated',
      },
    ];
  }
  if (auth.mode === 'anonymous' && policy === 'allow-authenticated') {
    return [
      {
        path: ['policy'],
        text: 'must not be allow-authenticated in anonymous mode, where nobody is; leave it out to allow everything',
      },
    ];
  }
  return [];
}

/** Keys that are right and change nothing: worth a word, not a refusal. */
export function idleKeys(config: Config, says: (path: readonly string[]) => boolean): string[] {
  const warnings: string[] = [];
  const jwtOnly = [
    'issuers',
    'resource',
    'requiredScopes',
    'clockTolerance',
    'maxTokenLife',
    'expiryGrace',
    'certificates',
  ];
  const other = config.auth.mode === 'anonymous' ? jwtOnly : ['anonymousRoles'];
  for (const key of other.filter((name) => says(['auth', name]))) {
    warnings.push(`auth.${key} has no effect in ${config.auth.mode} mode`);
  }
  if (config.mcpServers.length === 0) warnings.push('mcpServers names no upstream that is enabled');
  return warnings;
}
