import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { runCli } from '../support/cli.ts';
import { fileWith } from '../support/config-fixtures.ts';

/** The lines `check` prints of an anonymous gateway with these upstreams, each a module of that name. */
async function check(modules: Readonly<Record<string, string>>, options: object = {}) {
  const entries = Object.entries(modules).map(([key, name]) => [
    key,
    { module: resolve(`test/support/stdio/modules/${name}`), ...options },
  ]);
  const config = { auth: { mode: 'anonymous' }, mcpServers: Object.fromEntries(entries) };
  const { code, stdout } = await runCli(['check', '--config', fileWith('gateway.yaml', stringify(config))]);
  return { code, lines: stdout.trimEnd().split('\n') };
}

const RULE = 'its function must return a new server for each connection: the second fails';

test('a module that keeps one server is a problem where sessions have links of their own', async () => {
  const { code, lines } = await check({ kept: 'kept.mjs', modern: 'kept-sdk2.mjs', fine: 'named.mjs' });
  expect(code).toBe(1);
  expect(lines.filter((line) => line.includes(RULE))).toEqual([
    expect.stringMatching(new RegExp(`^problem: mcpServers.kept: ${RULE} .*Already connected to a transport`)),
    `problem: mcpServers.modern: ${RULE} (error -32603: Internal server error)`,
  ]);
});

test.each(['kept.mjs', 'kept-sdk2.mjs'])('where all sessions share its one link, %s is fine', async (name) => {
  const { code, lines } = await check({ kept: name }, { isolation: 'shared' });
  expect({ code, end: lines.at(-1) }).toEqual({ code: 0, end: '0 problems, 0 warnings' });
});
