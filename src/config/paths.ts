import { resolve } from 'node:path';
import type { Config, IssuerConfig, ServerConfig } from './schema.ts';

/** Makes every path in the configuration absolute; relative ones begin at `directory`, where the file is. */
export function resolvePaths(config: Config, directory: string): Config {
  const absolute = (path: string): string => resolve(directory, path);
  return {
    ...config,
    listen: {
      ...config.listen,
      tls: tlsPaths(config.listen.tls, absolute),
      tcp: tcpPaths(config.listen.tcp, absolute),
    },
    admin: adminPaths(config.admin, absolute),
    auth: authPaths(config.auth, absolute),
    mcpServers: config.mcpServers.map((server) => serverPaths(server, absolute)),
    audit: { ...config.audit, sink: sinkPath(config.audit.sink, absolute) },
  };
}

function tlsPaths(tls: Config['listen']['tls'], absolute: (path: string) => string): Config['listen']['tls'] {
  if (tls === null) return null;
  const { clientCaFile, ...rest } = tls;
  const authorities = clientCaFile === undefined ? {} : { clientCaFile: absolute(clientCaFile) };
  return { ...rest, certFile: absolute(tls.certFile), keyFile: absolute(tls.keyFile), ...authorities };
}

function tcpPaths(tcp: Config['listen']['tcp'], absolute: (path: string) => string): Config['listen']['tcp'] {
  return tcp?.socket === undefined ? tcp : { ...tcp, socket: absolute(tcp.socket) };
}

function adminPaths(admin: Config['admin'], absolute: (path: string) => string): Config['admin'] {
  return admin === null ? null : { ...admin, tokenFile: absolute(admin.tokenFile) };
}

function authPaths(auth: Config['auth'], absolute: (path: string) => string): Config['auth'] {
  if (auth.mode !== 'jwt') return auth;
  return { ...auth, issuers: auth.issuers.map((issuer) => ({ ...issuer, keys: keyPaths(issuer.keys, absolute) })) };
}

function keyPaths(keys: IssuerConfig['keys'], absolute: (path: string) => string): IssuerConfig['keys'] {
  return keys.source === 'jwksFile' ? { ...keys, jwksFile: absolute(keys.jwksFile) } : keys;
}

function sinkPath(sink: Config['audit']['sink'], absolute: (path: string) => string): Config['audit']['sink'] {
  return typeof sink === 'string' ? sink : { file: absolute(sink.file) };
}

/** A command without a leading `./` or `../` is looked up in PATH, or absolute already. */
function serverPaths(server: ServerConfig, absolute: (path: string) => string): ServerConfig {
  if (server.type === 'module') return { ...server, module: absolute(server.module) };
  if (server.type !== 'stdio') return server;
  const command = /^\.{1,2}[\\/]/.test(server.command) ? absolute(server.command) : server.command;
  return { ...server, command, cwd: absolute(server.cwd) };
}
