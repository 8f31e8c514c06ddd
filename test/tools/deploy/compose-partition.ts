import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';
import type { Deploy } from './check.ts';
import { CLOSING, ComposeNetwork } from './compose-network.ts';
import type { Container } from './container.ts';
import { expect, expectSoon } from './expect.ts';
import { IMAGE } from './images.ts';
import { ListWatcher } from './list-watcher.ts';

const BUS = 'deploy_bus';
const NOTICED_MS = 30_000;
const TOLD_MS = 30_000;
/** A change that is not to be heard has this long to be heard all the same. */
const QUIET_MS = 2_000;
const CHANGES = [
  'node',
  '/app/dist/main.js',
  'changes',
  '--config',
  '/etc/mcp-ws-gateway/gateway.yaml',
  '--kind',
  'tools',
];

/** A change told to the first gateway reaches the second: at once, or as soon as what was cut off is back. */
export async function partsAndReturns(deploy: Deploy): Promise<string> {
  const network = await ComposeNetwork.of(deploy);
  await network.upWith(withPeer(deploy));
  const story = await Story.open(network);
  await story.bothHear('second');
  const redisBack = await story.cutOff(network.redis, ['--alias', 'redis'], 'third');
  const gatewayBack = await story.cutOff(network.gateways[1], [], 'fourth');
  story.toldOnceOf(3);
  await story.close();
  return `caught up ${redisBack} ms after Redis was back, ${gatewayBack} ms after a gateway was`;
}

/** The configuration that ships, with one upstream more. */
function withPeer(deploy: Deploy) {
  const config = parse(readFileSync(join(deploy.root, 'deploy/compose/gateway.yaml'), 'utf8'));
  config.mcpServers.peer = { url: 'http://peer:7000/mcp', isolation: 'shared', startTimeout: '3s' };
  const file = join(deploy.scratch, 'with-peer.yaml');
  writeFileSync(file, stringify(config));
  const program = fileURLToPath(new URL('compose-peer.js', import.meta.url));
  const peer = {
    image: IMAGE,
    entrypoint: ['node', '/peer.mjs'],
    networks: ['front'],
    healthcheck: { disable: true },
    volumes: [`${program}:/peer.mjs:ro`],
  };
  return { services: { peer, gateway: { volumes: [`${file}:/etc/mcp-ws-gateway/gateway.yaml:ro`] } } };
}

class Story {
  private readonly network: ComposeNetwork;
  private readonly token: string;
  private readonly near: ListWatcher;
  private readonly far: ListWatcher;

  private constructor(network: ComposeNetwork, token: string, near: ListWatcher, far: ListWatcher) {
    this.network = network;
    this.token = token;
    this.near = near;
    this.far = far;
  }

  static async open(network: ComposeNetwork): Promise<Story> {
    const token = await network.token('ada', 'admin');
    for (const gateway of network.gateways)
      await expectSoon(
        async () => (await gateway.health()) === 'healthy',
        NOTICED_MS,
        () => `${gateway.name} is not healthy`,
      );
    const watcher = async (gateway: Container) => ListWatcher.open(await network.port(8080, gateway), token);
    return new Story(network, token, await watcher(network.gateways[0]), await watcher(network.gateways[1]));
  }

  /** Both are told, each once. */
  async bothHear(tool: string): Promise<void> {
    const before = [this.near.told, this.far.told];
    await this.grow(tool);
    const times = [await this.near.has(`peer__${tool}`, TOLD_MS), await this.far.has(`peer__${tool}`, TOLD_MS)];
    for (const [index, time] of times.entries())
      expect(time !== undefined, `the client of gateway ${index + 1} is not told of a change`);
    const [near, far] = [this.near.told - (before[0] ?? 0), this.far.told - (before[1] ?? 0)];
    expect(near === 1 && far === 1, `the watchers were told ${near} and ${far} times of one change`);
  }

  /** Takes the container out of the bus's network, changes the list, and lets it in again; milliseconds until all is known. */
  async cutOff(container: Container, alias: readonly string[], tool: string): Promise<number> {
    const { network } = this;
    const far = network.gateways[1];
    await network.docker('network', 'disconnect', BUS, container.name);
    await this.busIs(far, 0);
    await this.grow(tool);
    expect((await this.near.has(`peer__${tool}`, TOLD_MS)) !== undefined, 'the gateway that was told says nothing');
    expect((await this.far.has(`peer__${tool}`, QUIET_MS)) === undefined, 'the other one knows without the bus');
    for (const _ of network.gateways) await network.call(this.token);
    for (const gateway of network.gateways) await this.isReady(gateway);
    await network.docker('network', 'connect', ...alias, BUS, container.name);
    const caughtUp = await this.far.has(`peer__${tool}`, TOLD_MS);
    expect(caughtUp !== undefined, 'the other gateway does not catch up');
    for (const gateway of network.gateways) await this.busIs(gateway, 1);
    return caughtUp;
  }

  /** Nothing came later a second time. */
  toldOnceOf(changes: number): void {
    const told = [this.near.told, this.far.told];
    expect(
      told.every((times) => times === changes),
      `of ${changes} changes the watchers were told ${told.join(' and ')} times`,
    );
  }

  async close(): Promise<void> {
    await this.near.close();
    await this.far.close();
  }

  private async grow(tool: string): Promise<void> {
    const peer = await this.network.peer();
    await fetch(`http://127.0.0.1:${peer}/grow?tool=${tool}`, { method: 'POST', ...CLOSING });
    await this.network.gateways[0].run(...CHANGES, '--upstream', 'peer');
  }

  private async busIs(gateway: Container, up: number): Promise<void> {
    const isSo = async () => (await this.network.metric(gateway, 'bus_up')) === up;
    await expectSoon(isSo, NOTICED_MS, () => `bus_up of ${gateway.name} is not ${up}`);
  }

  private async isReady(gateway: Container): Promise<void> {
    const { status } = await fetch(`http://127.0.0.1:${await this.network.port(9464, gateway)}/readyz`, CLOSING);
    expect(status === 200, `${gateway.name} is not ready without the bus`);
  }
}
