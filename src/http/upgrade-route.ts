import type { Socket } from 'node:net';
import type { WebSocket } from '@fastify/websocket';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Principal } from '../auth/principal.ts';
import type { Clock } from '../ports/clock.ts';
import { CLOSE_CODES } from '../protocol/close-codes.ts';
import { upgradesToWebSocket } from '../protocol/websocket-handshake.ts';
import { arrivalOf, auditAllowed } from './audit-auth.ts';
import { type Farewell, Farewells } from './farewells.ts';
import { type Admitted, type CallerDeps, type CallerOptions, callerJudge, rulesOf } from './judge-caller.ts';
import { type RefuseDeps, recordRefusal, refuseUpgrade } from './refuse-upgrade.ts';

export interface RouteOptions extends CallerOptions {
  readonly path: string;
}

export interface RouteDeps extends CallerDeps, RefuseDeps {
  readonly clock: Clock;
  /** Binds an upgraded socket, synchronously. */
  readonly accept: (session: string, principal: Principal, socket: WebSocket, stream: Socket) => void;
}

/** The one route that can be upgraded: judged before 101, bound after it. */
export function webSocketRoute(app: FastifyInstance, options: RouteOptions, deps: RouteDeps): void {
  const admitted = new WeakMap<FastifyRequest, Admitted>();
  const parting = new WeakMap<FastifyRequest, Farewell>();
  const judge = callerJudge(options, deps);
  const farewells = new Farewells(rulesOf(options), deps.clock);
  app.addHook('preClose', async () => farewells.cut());
  app.route({
    method: 'GET',
    url: options.path,
    preValidation: async (request, reply) => {
      const startedAt = deps.clock.elapsed();
      const arrival = arrivalOf(request, deps.gate);
      const isUpgrade = request.ws && upgradesToWebSocket(request.headers.upgrade);
      const verdict = isUpgrade ? await judge(request, arrival) : ({ refused: 'not_an_upgrade' } as const);
      const outcome = 'refused' in verdict ? 'refused' : 'accepted';
      deps.meter.histogram('upgrade_duration_seconds', { outcome }).observe((deps.clock.elapsed() - startedAt) / 1000);
      if (!('refused' in verdict)) {
        admitted.set(request, verdict);
        return undefined;
      }
      const farewell = request.ws ? farewells.take(verdict, request.raw, request.raw.socket) : undefined;
      if (farewell === undefined) return refuseUpgrade(verdict, arrival, reply, deps);
      recordRefusal(verdict, arrival, deps, CLOSE_CODES[farewell.close].code);
      parting.set(request, farewell);
      return undefined;
    },
    handler: (_request, reply) => reply.code(426).send({ error: 'not_an_upgrade' }),
    wsHandler: (socket, request) => {
      const farewell = parting.get(request);
      if (farewell !== undefined) return farewells.say(farewell, socket, request.raw.socket);
      const found = admitted.get(request);
      if (found === undefined) return socket.close(1011, 'internal');
      auditAllowed(found.session, found.principal, deps);
      deps.accept(found.session, found.principal, socket, request.raw.socket);
    },
  });
}
