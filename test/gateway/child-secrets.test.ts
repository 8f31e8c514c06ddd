import { expect, test } from 'vitest';
import { startGateway } from '../support/gateway.ts';

test('what a child was given in its environment is not in the log, though the child prints it', async () => {
  const print = 'console.error("key", process.env.KEY, "ends"); process.stdin.resume()';
  const env = { KEY: 'canary-canary-canary' };
  const gateway = await startGateway({ mcpServers: { tell: { command: process.execPath, args: ['-e', print], env } } });
  const said = () => gateway.log.filter(({ event }) => event === 'upstream_stderr').map(({ fields }) => fields.line);
  await expect.poll(said).toEqual(['key [redacted] ends']);
  expect(JSON.stringify(gateway.log)).not.toContain('canary');
});
