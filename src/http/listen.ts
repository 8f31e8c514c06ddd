import type { FastifyInstance } from 'fastify';

export interface ListenOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
}

/** Where the TCP listener listens: an address, or the path of a Unix socket. */
export type TcpAddress = Address | { readonly socket: string };

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Starts listening; `section` is the configuration's (`listen`, `ops`). Rejects with one sentence for the operator. */
export async function listen(app: FastifyInstance, { host, port }: ListenOptions, section: string): Promise<Address> {
  try {
    await app.listen({ host, port });
  } catch (cause) {
    await app.close();
    throw new Error(sentenceFor(cause, host, port, section), { cause });
  }
  const bound = app.server.address();
  return typeof bound === 'object' && bound !== null ? { host: bound.address, port: bound.port } : { host, port };
}

function sentenceFor(cause: unknown, host: string, port: number, section: string): string {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown cause';
  if (code === 'EADDRINUSE') return `port ${port} on ${host} is already in use (${section}.port)`;
  return `cannot listen on port ${port} of ${host}: ${code} (${section}.host, ${section}.port)`;
}
