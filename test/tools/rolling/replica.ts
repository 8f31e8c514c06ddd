import { freePort } from '../../support/free-port.ts';
import { GatewayProcess } from '../trial/gateway-process.ts';
import { AUTH } from '../trial/tokens.ts';
import type { Backend } from './programs.ts';

/** In seconds: as long as the balancer needs to look away, and what calls and closes are given. */
const DRAIN = { notice: 3, inFlight: 10, waves: 5 };
/** Milliseconds to be gone in: all of the drain, and what stopping may take beyond it. */
export const GONE_WITHIN = (DRAIN.notice + DRAIN.inFlight + DRAIN.waves + 10) * 1000;

/** What all replicas share. */
export interface Surroundings {
  readonly redis: string;
  /** URL of the upstream. */
  readonly upstream: string;
}

/** One of the gateways behind the balancer, at the same ports whenever it runs. */
export class Replica implements Backend {
  readonly name: string;
  readonly port: number;
  readonly opsPort: number;
  /** How each of its processes has ended, and after how many milliseconds. */
  readonly ends: { readonly how: string; readonly ms: number }[] = [];
  readonly complaints: string[] = [];
  private readonly surroundings: Surroundings;
  private process: GatewayProcess | undefined;

  private constructor(name: string, port: number, opsPort: number, surroundings: Surroundings) {
    this.name = name;
    this.port = port;
    this.opsPort = opsPort;
    this.surroundings = surroundings;
  }

  static async at(name: string, surroundings: Surroundings): Promise<Replica> {
    return new Replica(name, await freePort(), await freePort(), surroundings);
  }

  /** Resolves when it is ready. */
  async start(): Promise<void> {
    this.process = await GatewayProcess.start(this.config());
  }

  /** Told to stop, as an orchestrator tells it; resolves when it is gone. */
  async stop(): Promise<void> {
    const { process } = this;
    if (process === undefined) return;
    this.process = undefined;
    const from = performance.now();
    await process.stop(GONE_WITHIN);
    this.ends.push({ how: process.ended ?? 'not at all', ms: Math.round(performance.now() - from) });
    this.complaints.push(...process.complaints);
  }

  private config(): object {
    const { redis, upstream } = this.surroundings;
    const { notice, inFlight, waves } = DRAIN;
    return {
      listen: { port: this.port, trustedProxies: ['127.0.0.1/32'] },
      ops: { port: this.opsPort },
      auth: AUTH,
      policy: [{ allow: { tools: ['**'] } }],
      seal: { keys: ['a secret that all replicas share, 32 bytes'] },
      bus: { redis },
      mcpServers: { work: { url: upstream, isolation: 'shared' } },
      timing: { drain: { notice: `${notice}s`, inFlight: `${inFlight}s`, waves: `${waves}s` } },
    };
  }
}
