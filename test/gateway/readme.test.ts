import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commandsOf, fencesOf, masked } from '../support/readme.ts';
import { Terminal } from '../support/shell.ts';

const page = readFileSync('README.md', 'utf8');
const fences = fencesOf(page);

/** The package as a reader has it, to write files into: a directory of links. */
const place = mkdtempSync(join(tmpdir(), 'gateway-readme-'));
const clone = join(place, 'mcp-ws-gateway');
const terminal = new Terminal(clone);

beforeAll(() => {
  mkdirSync(clone);
  for (const name of readdirSync('.')) symlinkSync(resolve(name), join(clone, name));
});
afterAll(async () => {
  await terminal.close();
  rmSync(place, { recursive: true });
});

/** The page is about these ports, so it can only be tested where they are free. */
async function untilFree(port: number): Promise<void> {
  const message = `port ${port} is taken: what the README says cannot be tried`;
  await expect.poll(() => isFree(port), { timeout: 10_000, message }).toBe(true);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  const free = await once(server, 'listening').then(
    () => true,
    () => false,
  );
  server.close();
  return free;
}

/**
 * `npm ci` has been run, or this would not run; building again would pull the rug from under other tests, and the clone's
 * links are not packed. Installing is unpacking here, for what npm would add is in this repository already.
 */
function runnable(command: string): string {
  return command
    .replace('npm ci && npm start', 'npm start --ignore-scripts')
    .replace('npm pack', `npm pack ${resolve('.')} --ignore-scripts`)
    .replace(/^npm install --silent (\S+)$/, (_all, tarball) => UNPACKED.replace('TARBALL', tarball));
}

const UNPACKED = `P=node_modules/mcp-ws-gateway; mkdir -p $P node_modules/.bin
  tar -xzf TARBALL -C $P --strip-components=1 && chmod +x $P/dist/main.js && ln -s '${resolve('node_modules')}' $P
  ln -s ../mcp-ws-gateway/dist/main.js node_modules/.bin/mcp-ws-gateway`;

test('each command gives the output that the page quotes, each file works as it is printed', async () => {
  for (const { file, language, text } of fences) {
    if (language === 'console') await follow(text);
    else if (file !== undefined) writeFileSync(join(clone, file), text);
  }
}, 180_000);

async function follow(text: string): Promise<void> {
  for (const { command, quoted } of commandsOf(text)) {
    const expected = quoted.map(masked);
    if (/npm start| serve /.test(command)) {
      await terminal.close();
      await Promise.all([8080, 9464].map(untilFree));
      const written = await terminal.serve(runnable(command));
      await expect.poll(() => logLines(written()), { timeout: 20_000 }).toEqual(expect.arrayContaining(expected));
    } else {
      expect({ command, output: (await terminal.run(runnable(command))).map(masked) }).toEqual({
        command,
        output: expected,
      });
    }
  }
}

/** What npm says of itself is not quoted. */
function logLines(lines: readonly string[]): string[] {
  return lines.filter((line) => line.startsWith('{')).map(masked);
}

test('the page is short and holds its commands and files', () => {
  expect(page.split('\n').length).toBeLessThanOrEqual(200);
  expect(fences.map(({ language, file }) => file ?? language)).toEqual([
    ...['console', 'client.mjs', 'console'],
    ...['mine.yaml', 'console', 'with-token.mjs', 'console'],
    ...['orders.mjs', 'asked.mjs', 'console'],
    ...['console', 'sh'],
  ]);
});

/** What npm packs besides `files` of package.json. */
const ALWAYS_PACKED = ['README.md', 'LICENSE', 'package.json'];
const { files } = JSON.parse(readFileSync('package.json', 'utf8'));
const isPacked = (path: string) => [...files, ...ALWAYS_PACKED].some((each) => `${path}/`.startsWith(`${each}/`));
const pages = [
  'README.md',
  ...readdirSync('docs', { recursive: true, encoding: 'utf8' }).map((name) => `docs/${name}`),
];

test.each(pages.filter((name) => name.endsWith('.md')))('%s links to what the package has', (file) => {
  const links = [...readFileSync(file, 'utf8').matchAll(/\]\((?!https?:|#)([^)#]+)[^)]*\)/g)].map(
    ([, path = '']) => path,
  );
  const targets = links.map((path) => join(dirname(file), path));
  expect(targets.filter((path) => !existsSync(path) || !isPacked(path))).toEqual([]);
});

test('docs/ARCHITECTURE.md names files that exist', () => {
  const text = readFileSync('docs/ARCHITECTURE.md', 'utf8');
  const named = [...text.matchAll(/`([\w/.-]+\.ts)`/g)].map(([, path = '']) => path);
  expect(named.length).toBeGreaterThan(40);
  expect(named.filter((path) => ![path, `src/${path}`].some(existsSync))).toEqual([]);
});
