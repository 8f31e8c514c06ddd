import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import type { Deploy } from './check.ts';
import { missing } from './command.ts';

const USERS = [
  'root:x:0:0:root:/root:/bin/sh',
  'node:x:1000:1000::/home/node:/bin/sh',
  'nobody:x:65534:65534::/:/bin/sh',
];
const GROUPS = ['root:x:0:', 'node:x:1000:', 'nogroup:x:65534:'];

/** The files of an image that is made of programs of this machine, where none can be downloaded. */
export class RootFilesystem {
  readonly directory: string;
  private readonly deploy: Deploy;

  constructor(deploy: Deploy, name: string) {
    this.deploy = deploy;
    this.directory = join(deploy.scratch, 'images', name);
    for (const folder of ['usr/bin', 'usr/lib', 'usr/lib64', 'etc', 'home/node', 'root', 'proc', 'sys', 'dev', 'run'])
      this.folder(folder);
    for (const [name, of] of [
      ['bin', 'usr/bin'],
      ['lib', 'usr/lib'],
      ['lib64', 'usr/lib64'],
    ] as const)
      symlinkSync(of, join(this.directory, name));
    this.folder('tmp', 0o1777);
    this.file('etc/passwd', USERS);
    this.file('etc/group', GROUPS);
    this.file('etc/nsswitch.conf', ['passwd: files', 'group: files', 'hosts: files dns']);
  }

  folder(path: string, mode = 0o755): void {
    mkdirSync(join(this.directory, path), { recursive: true });
    chmodSync(join(this.directory, path), mode);
  }

  file(path: string, lines: readonly string[], mode = 0o644): void {
    writeFileSync(join(this.directory, path), `${lines.join('\n')}\n`, { mode });
  }

  link(path: string, to: string): void {
    mkdirSync(dirname(join(this.directory, path)), { recursive: true });
    symlinkSync(to, join(this.directory, path));
  }

  copy(from: string, path: string): void {
    cpSync(from, join(this.directory, path), { recursive: true, dereference: false });
  }

  /** A program of PATH, or one by its path, with the libraries it is linked to. */
  async program(name: string, path = onPath(name)): Promise<void> {
    copyFileSync(realpathSync(path), join(this.directory, 'usr/bin', name));
    const { stdout } = await this.deploy.sh('ldd', [path]).catch(() => ({ stdout: '' }));
    for (const [, library = ''] of stdout.matchAll(/(?:=> |^\s+)(\/\S+) \(0x/gm)) this.library(library);
  }

  /** Makes it the image `tag`; `changes` are lines of a Dockerfile. */
  async importAs(
    tag: string,
    docker: (args: readonly string[]) => Promise<unknown>,
    changes: readonly string[],
  ): Promise<void> {
    const tar = `${this.directory}.tar`;
    await this.deploy.sh('tar', ['-C', this.directory, '--owner=0', '--group=0', '--numeric-owner', '-cf', tar, '.']);
    await docker(['import', ...changes.flatMap((change) => ['--change', change]), tar, tag]);
  }

  private library(path: string): void {
    const into = join(this.directory, path.startsWith('/usr/') ? path : join('usr', path));
    if (existsSync(into)) return;
    mkdirSync(dirname(into), { recursive: true });
    copyFileSync(realpathSync(path), into);
  }
}

function onPath(name: string): string {
  const found = (process.env.PATH ?? '').split(delimiter).find((folder) => existsSync(join(folder, name)));
  if (found === undefined) throw missing(name, Object.assign(new Error(name), { code: 'ENOENT' }));
  return join(found, name);
}
