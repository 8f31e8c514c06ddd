import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Deploy } from './check.ts';
import { expect } from './expect.ts';
import { BASE, IMAGE, imagesOf } from './images.ts';

interface ImageConfig {
  readonly User: string;
  readonly StopSignal: string;
  readonly Labels: Readonly<Record<string, string>>;
  readonly ExposedPorts: Readonly<Record<string, unknown>>;
}

interface Lock {
  readonly packages: Readonly<Record<string, { readonly dev?: boolean; readonly optional?: boolean }>>;
}

const TITLE = 'org.opencontainers.image';

export async function imageBuilds(deploy: Deploy): Promise<string> {
  const engine = await imagesOf(deploy).withImage('host');
  const size = async (image: string) =>
    Number((await engine.docker(['image', 'inspect', '--format', '{{.Size}}', image])).stdout);
  const [base, whole] = [await size(BASE), await size(IMAGE)];
  return `image ${mib(whole)}, of which ${mib(whole - base)} are not its base`;
}

/** Production dependencies, the build and nothing else; not root, and labelled as package.json says. */
export async function imageHoldsNoMore(deploy: Deploy): Promise<string> {
  const engine = await imagesOf(deploy).withImage('own');
  const read = async (args: readonly string[]) => JSON.parse((await engine.docker(args)).stdout);
  const config: ImageConfig = await read(['image', 'inspect', '--format', '{{json .Config}}', IMAGE]);
  judgeConfig(config, JSON.parse(readFileSync(join(deploy.root, 'package.json'), 'utf8')));
  const list = ['run', '--rm', '--network', 'none', '--entrypoint', 'node', IMAGE, '-p', LISTING];
  const { app, packages }: { app: string[]; packages: string[] } = await read(list);
  expect(app.join(' ') === 'LICENSE dist node_modules package.json', `/app holds ${app.join(' ')}`);
  judgePackages(packages, JSON.parse(readFileSync(join(deploy.root, 'package-lock.json'), 'utf8')));
  return `${packages.length} packages`;
}

/** What is in /app, and the packages on the first level of its node_modules. */
const LISTING = `(() => {
  const list = (path) => fs.readdirSync(path).filter((name) => !name.startsWith('.')).sort();
  const modules = '/app/node_modules';
  const packages = list(modules).flatMap((name) =>
    name.startsWith('@') ? list(modules + '/' + name).map((inner) => name + '/' + inner) : [name]);
  return JSON.stringify({ app: list('/app'), packages });
})()`;

function judgeConfig(config: ImageConfig, manifest: { version: string; license: string; description: string }): void {
  expect(config.User === '1000:1000', `the image runs as ${config.User}`);
  expect(config.StopSignal === 'SIGTERM', `the image is stopped by ${config.StopSignal}`);
  const ports = Object.keys(config.ExposedPorts).sort().join(' ');
  expect(ports === '8080/tcp 9464/tcp', `the image exposes ${ports}`);
  for (const [label, value] of [
    ['version', manifest.version],
    ['licenses', manifest.license],
    ['description', manifest.description],
  ] as const)
    expect(config.Labels[`${TITLE}.${label}`] === value, `the label ${label} is not what package.json says`);
}

function judgePackages(packages: readonly string[], { packages: locked }: Lock): void {
  const wanted = Object.entries(locked).filter(([path]) => /^node_modules\/(@[^/]+\/)?[^/]+$/.test(path));
  const named = (isWanted: (entry: Lock['packages'][string]) => boolean) =>
    wanted.filter(([, entry]) => isWanted(entry)).map(([path]) => path.slice('node_modules/'.length));
  const extra = named(({ dev }) => dev === true).filter((name) => packages.includes(name));
  expect(extra.length === 0, `the image holds development dependencies: ${extra.join(', ')}`);
  const lacking = named(({ dev, optional }) => dev !== true && optional !== true).filter(
    (name) => !packages.includes(name),
  );
  expect(lacking.length === 0, `the image lacks dependencies: ${lacking.join(', ')}`);
}

function mib(bytes: number): string {
  return `${Math.round(bytes / 2 ** 20)} MiB`;
}
