import { startGateway, type TestGateway } from './gateway.ts';
import { SHARED_KEY } from './redis-parts.ts';
import { browserConfig } from './ticketed-gateway.ts';

/** Begins the keys of such gateways. */
export const PREFIX = 'ticketed';

/** Two gateways that judge tokens and share a Redis, gone when the test ends; `more` is laid over their configuration. */
export async function ticketedReplicas(
  redis: string,
  more: Readonly<Record<string, unknown>> = {},
): Promise<readonly [TestGateway, TestGateway]> {
  const config = browserConfig({ bus: { redis, prefix: PREFIX }, seal: { keys: [SHARED_KEY] }, ...more });
  return [await startGateway(config), await startGateway(config)];
}
