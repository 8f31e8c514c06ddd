import { authorities } from './authorities.ts';
import type { Deploy } from './check.ts';
import { expect } from './expect.ts';
import { CONFINED, configured, IMAGE, imagesOf } from './images.ts';

const PACKAGE = '@modelcontextprotocol/server-everything@2026.8.31';
const FOUND = /^everything: \d+ tools/m;
const CACHE = 'npx:/var/cache/mcp-ws-gateway';
const INSTALL_MS = 180_000;

/** npx fills the volume, as docs/operations.md says; a gateway without any network starts the server from it. */
export async function serversOfNpx(deploy: Deploy): Promise<string> {
  const engine = await imagesOf(deploy).withImage('host');
  const run = async (network: string, args: readonly string[]) => {
    const started = performance.now();
    const confined = ['run', '--rm', '--network', network, ...CONFINED, '--volume', CACHE];
    const { stdout } = await engine.docker([...confined, ...args], { timeoutMs: INSTALL_MS });
    return { stdout, seconds: ((performance.now() - started) / 1000).toFixed(1) };
  };
  const npx = ['-y', `--package=${PACKAGE}`, '--', 'node', '--version'];
  const installed = await run('host', [...authority(), '--entrypoint', 'npx', IMAGE, ...npx]);
  const check = ['check', '--config', '/etc/mcp-ws-gateway/gateway.yaml'];
  const checked = await run('none', ['--volume', configuration(deploy), IMAGE, ...check]);
  expect(FOUND.test(checked.stdout), `check does not find the server's tools:\n${checked.stdout}`);
  return `installed in ${installed.seconds} s, checked without a network in ${checked.seconds} s`;
}

function configuration(deploy: Deploy): string {
  const everything = { command: 'npx', args: ['--prefer-offline', '-y', PACKAGE], startTimeout: '60s' };
  return configured(deploy, 'npx', { auth: { mode: 'anonymous' }, mcpServers: { everything } });
}

/** Where this machine reaches the registry through an authority of its own. */
function authority(): string[] {
  const file = authorities();
  return file === undefined ? [] : ['--volume', `${file}:/run/ca.pem:ro`, '--env', 'NODE_EXTRA_CA_CERTS=/run/ca.pem'];
}
