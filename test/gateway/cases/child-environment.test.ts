import { expect, onTestFinished, test, vi } from 'vitest';
import { startGateway, stdioUpstream } from '../../support/gateway.ts';
import { toolCall } from '../../support/messages.ts';
import { openRaw } from '../../support/raw-client.ts';

const SAFE = /^(HOME|LANG|LC_[A-Z]+|LOGNAME|PATH|SHELL|TERM|TMPDIR|TZ|USER)$/;

test('a child with env sees the safe list and its own variables only', async () => {
  vi.stubEnv('REDIS_URL', 'redis://:secret@127.0.0.1');
  vi.stubEnv('MCP_GATEWAY_JWT_SECRET', 'a secret of the gateway');
  onTestFinished(() => void vi.unstubAllEnvs());
  const { url, ready } = await startGateway({
    mcpServers: { up: stdioUpstream('plain.mjs', [], { isolation: 'shared', env: { A: '1' } }) },
  });
  await ready();
  const client = await openRaw(url);
  const answer = await client.ask(toolCall(1, 'up__environment'));
  const { result } = answer as { result: { content: [{ text: string }] } };
  const environment: Record<string, string> = JSON.parse(result.content[0].text);
  expect(environment).toMatchObject({ A: '1', PATH: process.env.PATH });
  expect(Object.keys(environment).filter((name) => name !== 'A' && !SAFE.test(name))).toEqual([]);
});
