import { existsSync } from 'node:fs';
import type { Deploy } from './check.ts';
import { expect } from './expect.ts';
import { CONFINED, configured, IMAGE, imagesOf } from './images.ts';

const PACKAGE = '@modelcontextprotocol/server-everything@2026.8.31';
const FOUND = /^everything: \d+ tools/m;
const CHECK = ['check', '--config', '/etc/mcp-ws-gateway/gateway.yaml'];

/** Installed into the volume by the first container; the next one starts it without any network. */
export async function serversOfNpx(deploy: Deploy): Promise<string> {
  const engine = await imagesOf(deploy).withImage('host');
  const authority = process.env.NODE_EXTRA_CA_CERTS ?? '';
  const isGiven = existsSync(authority);
  const mount = configured(deploy, 'npx', {
    auth: { mode: 'anonymous' },
    mcpServers: {
      everything: {
        command: 'npx',
        args: ['--prefer-offline', '-y', PACKAGE],
        startTimeout: '100s',
        ...(isGiven ? { env: { NODE_EXTRA_CA_CERTS: '/run/ca.pem' } } : {}),
      },
    },
  });
  const volumes = [mount, 'npx:/var/cache/mcp-ws-gateway', ...(isGiven ? [`${authority}:/run/ca.pem:ro`] : [])];
  const check = (network: string) => {
    const args = ['--rm', '--network', network, ...CONFINED, ...volumes.flatMap((volume) => ['--volume', volume])];
    return engine.docker(['run', ...args, IMAGE, ...CHECK]);
  };
  const times: string[] = [];
  for (const network of ['host', 'none']) {
    const started = performance.now();
    const { stdout } = await check(network);
    expect(FOUND.test(stdout), `check does not find the server's tools:\n${stdout}`);
    times.push(((performance.now() - started) / 1000).toFixed(1));
  }
  return `installed and checked in ${times[0]} s, without a network in ${times[1]} s`;
}
