import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { openSdkCaller } from '../trial/sdk-caller.ts';
import type { Deploy } from './check.ts';
import { Container } from './container.ts';
import type { Engine } from './engine.ts';
import { expect } from './expect.ts';
import { imagesOf } from './images.ts';
import { makeStandIns } from './stand-ins.ts';
import { Tunnel } from './tunnel.ts';

/** A connection that is kept alive would be counted by the gateway's listeners. */
export const CLOSING = { headers: { connection: 'close' } };
const UP_MS = 180_000;
const FRONT = 'deploy_front';

/** What docker-compose.yml starts, on an engine with a network of its own. */
export class ComposeNetwork {
  readonly gateways: readonly [Container, Container];
  readonly redis: Container;
  private readonly deploy: Deploy;
  private readonly engine: Engine;
  private readonly services: readonly string[];
  private readonly tunnel: Tunnel;
  private override: readonly string[] = [];

  private constructor(deploy: Deploy, engine: Engine, services: readonly string[], tunnel: Tunnel) {
    this.deploy = deploy;
    this.engine = engine;
    this.services = services;
    this.tunnel = tunnel;
    this.gateways = [new Container(engine, 'deploy_gateway_1'), new Container(engine, 'deploy_gateway_2')];
    this.redis = new Container(engine, 'deploy_redis_1');
  }

  /** The network of this run, up. */
  static of(deploy: Deploy): Promise<ComposeNetwork> {
    const network = shared.get(deploy) ?? ComposeNetwork.open(deploy);
    shared.set(deploy, network);
    return network;
  }

  private static async open(deploy: Deploy): Promise<ComposeNetwork> {
    const engine = await imagesOf(deploy).withImage('own');
    const services = await makeStandIns(deploy, engine);
    const network = new ComposeNetwork(deploy, engine, services, await Tunnel.into(deploy, engine));
    await network.up();
    return network;
  }

  /** Starts what is not running, and anew what is configured otherwise than it was; returns seconds. */
  async up(): Promise<number> {
    const started = performance.now();
    await this.compose(['up', '--detach', '--no-build', ...this.services], UP_MS);
    return (performance.now() - started) / 1000;
  }

  /** With another Compose file over the one that ships. */
  async upWith(file: { readonly services: Readonly<Record<string, object>> }): Promise<void> {
    const path = join(this.deploy.scratch, 'override.yml');
    writeFileSync(path, stringify(file));
    this.override = ['--file', 'docker-compose.yml', '--file', path];
    const added = Object.keys(file.services).filter((service) => !this.services.includes(service));
    await this.compose(['up', '--detach', '--no-build', ...this.services, ...added], UP_MS);
  }

  async compose(args: readonly string[], timeoutMs?: number): Promise<string> {
    const options = timeoutMs === undefined ? {} : { timeoutMs };
    return (await this.engine.compose([...this.override, ...args], options)).stdout;
  }

  docker(...args: readonly string[]): Promise<unknown> {
    return this.engine.docker(args);
  }

  /** As the README says it. */
  async token(...idAndRoles: readonly string[]): Promise<string> {
    return (await this.compose(['run', '--rm', 'token', ...idAndRoles])).trim();
  }

  /** A port here for one that is published, or for one of a container. */
  async port(port: number, container?: Container): Promise<number> {
    if (container === undefined) return this.tunnel.port(String(port));
    return this.tunnel.port(`${await container.address(FRONT)}:${port}`);
  }

  /** A port here for the server that an override adds. */
  peer(): Promise<number> {
    return this.port(7000, new Container(this.engine, 'deploy_peer_1'));
  }

  /** Calls the demo through the balancer. */
  async call(token: string): Promise<void> {
    const caller = await openSdkCaller(await this.port(8080), token, 'handshake');
    const end = await caller.call('demo__echo', { text: 'through' });
    await caller.close();
    expect(end.kind === 'text' && end.text === 'through', `a client got ${JSON.stringify(end)}`);
  }

  /** A metric of a gateway without labels. */
  async metric(gateway: Container, name: string): Promise<number> {
    const text = await (await fetch(`http://127.0.0.1:${await this.port(9464, gateway)}/metrics`, CLOSING)).text();
    const value = new RegExp(`^mcp_gateway_${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(text)?.[1];
    expect(value !== undefined, `${gateway.name} has no metric ${name}`);
    return Number(value);
  }
}

const shared = new WeakMap<Deploy, Promise<ComposeNetwork>>();
