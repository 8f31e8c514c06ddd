import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

const resolve = createRequire(import.meta.url).resolve;
const MODULE = fileURLToPath(new URL('./stdio/modules/mcp-sdk2.mjs', import.meta.url));

/**
 * A folder with a copy of SDK 2.x of its own and a module that uses it; returns the module's path. With `renamed` the copy
 * has another name inside for the version negotiated, as another release might: only its own parts work together.
 */
export async function moduleWithCopy(renamed: boolean): Promise<string> {
  const home = await temporaryFolder();
  const packages = join(home, 'node_modules');
  const original = dirname(dirname(resolve('@modelcontextprotocol/server')));
  const copy = join(packages, '@modelcontextprotocol', 'server');
  await mkdir(copy, { recursive: true });
  await cp(original, copy, { recursive: true, filter: (path) => !/\.map$|\.d\.[cm]ts$/.test(path) });
  await symlink(join(original, '..', 'core'), join(packages, '@modelcontextprotocol', 'core'));
  await symlink(dirname(resolve('zod/package.json')), join(packages, 'zod'));
  if (renamed) await renameWithin(join(copy, 'dist'));
  const module = join(home, 'server.mjs');
  await cp(MODULE, module);
  return module;
}

/** A module that gets its server from another, in a folder from which no copy of the SDK is found. */
export async function moduleBehind(inner: string): Promise<string> {
  const outer = join(await temporaryFolder(), 'outer.mjs');
  await writeFile(outer, `export { default } from ${JSON.stringify(inner)};\n`);
  return outer;
}

async function temporaryFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'copied-sdk-')));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

async function renameWithin(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!/\.[cm]js$/.test(name)) continue;
    const file = join(folder, name);
    const text = await readFile(file, 'utf8');
    await writeFile(file, text.replaceAll('_negotiatedProtocolVersion', '_agreedRevision'));
  }
}
