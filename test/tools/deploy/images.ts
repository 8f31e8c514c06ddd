import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { authorities } from './authorities.ts';
import type { Deploy } from './check.ts';
import { Engine, type Network } from './engine.ts';
import { RootFilesystem } from './root-filesystem.ts';

/** What the base of the image is made of, where the real one cannot be downloaded. */
const NODE = '24.22.3';
const NPM = '11.21.2';
export const BASE = 'node:24-bookworm-slim';
export const IMAGE = 'mcp-ws-gateway';

export const PATH = 'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const BUILD_MS = 300_000;

/** How little a gateway's container needs. */
export const CONFINED = ['--read-only', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'];

/** The volume of a container that has this configuration, and files beside it, where the image looks for them. */
export function configured(deploy: Deploy, name: string, config: object, files: Record<string, string> = {}): string {
  const folder = join(deploy.scratch, 'config', name);
  mkdirSync(folder, { recursive: true });
  for (const [file, text] of Object.entries({ ...files, 'gateway.yaml': stringify(config) }))
    writeFileSync(join(folder, file), text);
  return `${folder}:/etc/mcp-ws-gateway:ro`;
}

/** One for all checks of a run. */
export function imagesOf(deploy: Deploy): Images {
  const images = shared.get(deploy) ?? new Images(deploy);
  shared.set(deploy, images);
  return images;
}

const shared = new WeakMap<Deploy, Images>();

/** The engines and images that several checks share; each is made when it is first asked for. */
export class Images {
  private readonly deploy: Deploy;
  private engine: Engine | undefined;
  private built: Promise<void> | undefined;

  constructor(deploy: Deploy) {
    this.deploy = deploy;
  }

  /** The engine with that network; one with the other is stopped, with its containers. */
  async on(network: Network): Promise<Engine> {
    if (this.engine?.network === network && this.engine.isRunning) return this.engine;
    await this.engine?.stop();
    this.engine = undefined;
    this.engine = await Engine.start(this.deploy, network);
    return this.engine;
  }

  /** As `on`, with the image of the Dockerfile there. */
  async withImage(network: Network): Promise<Engine> {
    this.built ??= this.build();
    await this.built;
    return this.on(network);
  }

  private async build(): Promise<void> {
    const engine = await this.on('host');
    await makeBase(this.deploy, engine);
    await engine.docker(['build', '--network', 'host', ...authority(), '--tag', IMAGE, this.deploy.root], {
      timeoutMs: BUILD_MS,
    });
  }
}

/** Where this machine reaches the registry through an authority of its own. */
function authority(): string[] {
  const file = authorities();
  return file === undefined ? [] : ['--secret', `id=ca,src=${file}`];
}

/** Node and npm of the registry with what they need of this machine, under the name of the image the Dockerfile begins with. */
async function makeBase(deploy: Deploy, engine: Engine): Promise<void> {
  const node = `node-linux-${process.arch}`;
  const folder = join(deploy.scratch, 'node');
  const packages = [`${node}@${NODE}`, `npm@${NPM}`];
  await deploy.sh('npm', ['install', '--silent', '--ignore-scripts', '--no-save', '--prefix', folder, ...packages]);
  const root = new RootFilesystem(deploy, 'node');
  for (const name of ['sh', 'env', 'id', 'ls', 'cat', 'mkdir', 'chown']) await root.program(name);
  await root.program('tini-static');
  await root.program('node', join(folder, 'node_modules', node, 'bin/node'));
  root.folder('usr/local/lib/node_modules');
  root.copy(join(folder, 'node_modules/npm'), 'usr/local/lib/node_modules/npm');
  for (const name of ['npm', 'npx']) root.link(`usr/local/bin/${name}`, `../lib/node_modules/npm/bin/${name}-cli.js`);
  await root.importAs(BASE, (args) => engine.docker(args), [PATH]);
}
