import { fakeClock } from './fake-clock.ts';
import { startGateway } from './gateway.ts';
import { connectRaw, openRaw } from './raw-client.ts';
import { makeIssuer, type TestClaims } from './tokens.ts';

export const TOKEN_EXTENSION = { extensions: { 'ws-gateway/token': {} } };

export interface TokenGatewayOptions {
  readonly mcpServers?: Readonly<Record<string, unknown>>;
  readonly policy?: unknown;
  readonly auth?: Readonly<Record<string, unknown>>;
  readonly limits?: Readonly<Record<string, unknown>>;
  readonly audit?: unknown;
}

/** When the clock of a token gateway begins. */
const BEGAN = Date.UTC(2030, 0, 1);

/** A gateway in `jwt` mode whose time passes by `clock.advance` alone: long waits end no socket, and close no idle connection. */
export async function tokenGateway({ auth, limits, ...config }: TokenGatewayOptions = {}) {
  const clock = fakeClock(BEGAN);
  const issuer = await makeIssuer();
  const gateway = await startGateway(
    {
      auth: {
        mode: 'jwt',
        resource: issuer.audience,
        clockTolerance: '0s',
        maxTokenLife: '90d',
        issuers: [{ issuer: issuer.issuer, keys: { secret: issuer.secret } }],
        ...auth,
      },
      policy: 'allow-authenticated',
      mcpServers: {},
      limits: { pingInterval: '20d', firstMessage: '20d', ...limits },
      ...config,
    },
    clock,
  );
  await gateway.ready();
  /** A token of `alice`, good for `seconds` from now. */
  const token = (seconds: number, claims: TestClaims = {}) =>
    issuer.sign({ exp: Math.floor(clock.now() / 1000) + seconds, ...claims }, { now: clock.now() });
  const headers = async (seconds: number, claims?: TestClaims) => ({
    headers: { authorization: `Bearer ${await token(seconds, claims)}` },
  });
  return {
    ...gateway,
    clock,
    issuer,
    token,
    /** A handshake client that has completed its handshake. */
    open: async (seconds: number, claims?: TestClaims, capabilities: object = {}) =>
      openRaw(gateway.url, await headers(seconds, claims), capabilities),
    /** A client that has said nothing. */
    connect: async (seconds: number, claims?: TestClaims) => connectRaw(gateway.url, await headers(seconds, claims)),
  };
}

/** A `ws-gateway/refreshToken` of a handshake client. */
export function refresh(id: string | number, token: unknown) {
  return { jsonrpc: '2.0', id, method: 'ws-gateway/refreshToken', params: { token } };
}

/** The time so many seconds after that, as the gateway writes it. */
export function secondsAfter(seconds: number): string {
  return new Date(BEGAN + seconds * 1000).toISOString();
}
