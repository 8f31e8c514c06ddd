import type { Config, Limits, ServerConfig } from '../config/schema.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Meter } from '../ports/meter.ts';
import type { Dial } from '../ports/transport.ts';
import { Children } from './children.ts';
import { dialModule } from './module.ts';
import type { UpstreamOptions } from './pool.ts';
import { dialSse } from './sse.ts';
import { dialStdio } from './stdio.ts';
import { dialStreamableHttp } from './streamable-http.ts';
import { dialTcp, tcpTarget } from './tcp.ts';
import { dialWebSocket } from './websocket.ts';

export interface ConfiguredDeps {
  readonly log: Log;
  readonly clock: Clock;
  readonly meter: Meter;
  readonly environment: NodeJS.ProcessEnv;
  readonly atExit: (task: () => void) => () => void;
}

/** The upstreams of the configuration, in its order, each with the way to dial it. */
export function upstreamOptions({ mcpServers, limits }: Config, deps: ConfiguredDeps): UpstreamOptions[] {
  const taken = deps.meter.gauge('session_children', {});
  const children = new Children(limits, deps.clock, (count) => taken.set(count));
  return mcpServers.map((server) => ({
    upstream: server.key,
    isolation: server.isolation,
    // HTTP+SSE is a transport of the handshake era alone.
    era: server.type === 'sse' ? 'handshake' : undefined,
    startTimeout: server.startTimeout,
    call: { idle: server.timeout, hard: server.maxTimeout },
    concurrency: server.concurrency,
    maxDepth: limits.depth,
    maxBacklog: limits.maxUpstreamMessage,
    maxLinks: server.maxLinks,
    children: server.type === 'stdio' ? children : undefined,
    idle: server.idle,
    breaker: server.breaker,
    dial: dialOf(server, limits, deps),
  }));
}

function dialOf(server: ServerConfig, limits: Limits, deps: ConfiguredDeps): Dial {
  const upstream = server.key;
  const maxMessage = limits.maxUpstreamMessage;
  switch (server.type) {
    case 'stdio': {
      const { command, args, env, cwd } = server;
      return dialStdio({ command, args, env, cwd, maxMessage }, { ...deps, upstream });
    }
    case 'http':
      return dialStreamableHttp({ url: server.url, headers: server.headers, maxMessage }, { ...deps, upstream });
    case 'sse':
      return dialSse({ url: server.url, headers: server.headers, maxMessage }, { ...deps, upstream });
    case 'ws': {
      const { url, headers } = server;
      return dialWebSocket({ url, headers, maxMessage, heartbeat: limits }, { ...deps, upstream });
    }
    case 'tcp':
      return dialTcp({ ...tcpTarget(server.url), maxMessage }, { ...deps, upstream });
    case 'module':
      return dialModule({ path: server.module }, { ...deps, upstream });
  }
}
