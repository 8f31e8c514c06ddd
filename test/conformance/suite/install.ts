import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { SUITES } from './suites.ts';

/** Apart from the project's own packages: a `node` among those would take the place of the Node that runs. */
const FOLDER = resolve('.conformance');

/** The suite imports what Node has since 22. */
const NODE = '24.21.0';

export interface Tools {
  /** Path of the Node that runs the suites. */
  readonly node: string;
  /** Path of a suite's program, by version. */
  program(version: string): string;
}

/** Installs the suites and their Node unless they are there. Throws when npm fails. */
export function installTools(): Tools {
  const wanted = `${JSON.stringify({ private: true, dependencies: dependencies() }, undefined, 2)}\n`;
  const manifest = join(FOLDER, 'package.json');
  const done = existsSync(join(FOLDER, 'node_modules', '.package-lock.json'));
  if (!done || readFileSync(manifest, 'utf8') !== wanted) {
    mkdirSync(FOLDER, { recursive: true });
    writeFileSync(manifest, wanted);
    const { status } = spawnSync('npm', ['install', '--no-audit', '--no-fund', '--prefix', FOLDER], {
      cwd: FOLDER,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    if (status !== 0) throw new Error('npm could not install the conformance suites');
  }
  return {
    node: join(FOLDER, 'node_modules', 'node', 'bin', 'node'),
    program: (version) => join(FOLDER, 'node_modules', folderOf(version), 'dist', 'index.js'),
  };
}

function dependencies(): Record<string, string> {
  const suites = SUITES.map(({ version }) => [folderOf(version), `npm:@modelcontextprotocol/conformance@${version}`]);
  return { node: NODE, ...Object.fromEntries(suites) };
}

function folderOf(version: string): string {
  return `conformance-${version}`;
}
