import type { Deploy } from './check.ts';
import { ComposeNetwork } from './compose-network.ts';
import { expect } from './expect.ts';

const STOP_MS = 120_000;

/** Every gateway drains within its grace; a token from before is good after the start, as nothing secret is made twice. */
export async function stopsAndStartsAgain(deploy: Deploy): Promise<string> {
  const network = await ComposeNetwork.of(deploy);
  const token = await network.token('ada', 'admin');
  const started = performance.now();
  await network.compose(['stop'], STOP_MS);
  const seconds = (performance.now() - started) / 1000;
  for (const gateway of network.gateways) {
    const { ExitCode } = await gateway.state();
    expect(ExitCode === 0, `${gateway.name} ended with exit code ${ExitCode}`);
  }
  const up = await network.up();
  await network.call(token);
  await network.compose(['down', '--volumes'], STOP_MS);
  return `stopped in ${seconds.toFixed(1)} s, up in ${up.toFixed(1)} s`;
}
