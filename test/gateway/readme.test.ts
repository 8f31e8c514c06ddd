import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commandsOf, fencesOf, masked } from '../support/readme.ts';
import { Terminal } from '../support/shell.ts';

const page = readFileSync('README.md', 'utf8');
const fences = fencesOf(page);

/** The package as a reader has it, to write files into: a directory of links. */
const clone = mkdtempSync(join(tmpdir(), 'gateway-readme-'));
const terminal = new Terminal(clone);

beforeAll(() => {
  for (const name of readdirSync('.')) symlinkSync(resolve(name), join(clone, name));
});
afterAll(async () => {
  await terminal.close();
  rmSync(clone, { recursive: true });
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

/** `npm ci` has been run, or this would not run; building again would pull the rug from under other tests. */
function runnable(command: string): string {
  return command.replace('npm ci && npm start', 'npm start --ignore-scripts');
}

test('each command gives the output that the page quotes, each file works as it is printed', async () => {
  const client = join(clone, 'client.mjs');
  for (const { language, text } of fences) {
    if (language === 'yaml') writeFileSync(join(clone, 'mine.yaml'), text);
    else if (language === 'js' && !existsSync(client)) writeFileSync(client, text);
    else if (language === 'js')
      writeFileSync(
        client,
        readFileSync(client, 'utf8').replace(/^globalThis\.WebSocket = .*$/m, () => text),
      );
    else await follow(text);
  }
}, 120_000);

async function follow(text: string): Promise<void> {
  for (const { command, quoted } of commandsOf(text)) {
    const expected = quoted.map(masked);
    if (/npm start| serve /.test(command)) {
      await terminal.close();
      await Promise.all([8080, 9464].map(untilFree));
      const written = await terminal.serve(runnable(command));
      await expect.poll(() => logLines(written()), { timeout: 20_000 }).toEqual(expect.arrayContaining(expected));
    } else {
      expect({ command, output: (await terminal.run(command)).map(masked) }).toEqual({ command, output: expected });
    }
  }
}

/** What npm says of itself is not quoted. */
function logLines(lines: readonly string[]): string[] {
  return lines.filter((line) => line.startsWith('{')).map(masked);
}

test('the page is one screen and holds its commands and files', () => {
  expect(page.split('\n').length).toBeLessThanOrEqual(100);
  expect(fences.map(({ language }) => language)).toEqual([
    ...['console', 'js', 'console'],
    ...['yaml', 'console', 'js', 'console'],
  ]);
});

test.each(['README.md', 'docs/ARCHITECTURE.md'])('%s links to files that exist', (file) => {
  const links = [...readFileSync(file, 'utf8').matchAll(/\]\((?!https:)([^)]+)\)/g)].map(([, path = '']) => path);
  expect(links).not.toEqual([]);
  expect(links.filter((path) => !existsSync(join(dirname(file), path)))).toEqual([]);
});
