import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** What is installed, each package locked by its digest. */
const LOCKED = resolve('test/conformance/suite/tools');

/** Where: apart from the project's own packages, of which the suites need other versions. */
const FOLDER = resolve('.conformance');

/** The suites import what Node has since this version. */
const LEAST_NODE = 22;

export interface Tools {
  /** Path of the Node that runs the suites. */
  readonly node: string;
  /** Path of a suite's program, by version. */
  program(version: string): string;
}

/** Installs the suites and their Node unless they are there. Throws when npm fails or there is no Node for the suites. */
export function installTools(): Tools {
  const lock = readFileSync(join(LOCKED, 'package-lock.json'), 'utf8');
  // Written last: what an interrupted installation left is not taken for a whole one.
  const installed = join(FOLDER, 'installed');
  if (!existsSync(installed) || readFileSync(installed, 'utf8') !== lock) {
    mkdirSync(FOLDER, { recursive: true });
    for (const name of ['package.json', 'package-lock.json']) copyFileSync(join(LOCKED, name), join(FOLDER, name));
    install();
    writeFileSync(installed, lock);
  }
  return { node: nodePath(), program: (version) => packaged(`conformance-${version}`, 'dist/index.js') };
}

function install(): void {
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const { status } = spawnSync('npm', ['ci', ...options], { cwd: FOLDER, stdio: ['ignore', 'ignore', 'inherit'] });
  if (status !== 0) throw new Error('npm could not install the conformance suites');
}

/** The locked Node, which there is for Linux; elsewhere the one that runs this, when it is new enough. */
function nodePath(): string {
  const locked = packaged(`node-${process.platform}-${process.arch}`, 'bin/node');
  if (existsSync(locked)) return locked;
  if (Number.parseInt(process.versions.node, 10) >= LEAST_NODE) return process.execPath;
  throw new Error(`the conformance suites need Node ${LEAST_NODE} or newer`);
}

function packaged(name: string, file: string): string {
  return join(FOLDER, 'node_modules', name, file);
}
