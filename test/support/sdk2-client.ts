import { Client, type VersionNegotiationMode } from '@modelcontextprotocol/client';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { expect, onTestFinished } from 'vitest';
import { z } from 'zod';
import type { KitClient } from '../kits/adapter-kit.ts';
import { withoutEra } from './era-normaliser.ts';
import { tapped } from './frame-tap.ts';

/** The ways an SDK 2.x client finds its era, by the names its documentation has for them. */
export const SDK2_MODES = {
  legacy: 'legacy',
  auto: 'auto',
  pinned: { pin: '2026-07-28' },
} as const satisfies Readonly<Record<string, VersionNegotiationMode>>;

export type Sdk2Mode = keyof typeof SDK2_MODES;

const AnyResult = z.looseObject({});
const Progress = z.object({
  method: z.literal('notifications/progress'),
  params: z.looseObject({ progressToken: z.union([z.number(), z.string()]) }),
});

/**
 * A real SDK 2.x client over this transport, closed, and its frames judged, when the test ends. It looks at no result, and
 * progress is taken as the transport brings it. In the modern era it listens for changes of tools.
 */
export async function sdk2Client(bare: Transport, mode: Sdk2Mode = 'legacy'): Promise<KitClient> {
  const transport = tapped(bare);
  const client = new Client({ name: 'kit', version: '1' }, { versionNegotiation: { mode: SDK2_MODES[mode] } });
  const listeners = new Set<(progress: object) => void>();
  let changes = 0;
  client.setNotificationHandler('notifications/tools/list_changed', () => {
    changes += 1;
  });
  await client.connect(transport);
  onTestFinished(() => client.close());
  expect(client.getProtocolEra()).toBe(mode === 'legacy' ? 'legacy' : 'modern');
  if (mode !== 'legacy') await client.listen({ toolsListChanged: true });
  const { onmessage } = transport;
  transport.onmessage = (message, extra) => {
    const progress = Progress.safeParse(message);
    const { progressToken: _token, ...step } = progress.data?.params ?? {};
    if (progress.success) for (const listener of listeners) listener(step);
    onmessage?.(message, extra);
  };
  return {
    async request(method, params = {}, onprogress) {
      const options = onprogress === undefined ? {} : { onprogress: () => {} };
      if (onprogress !== undefined) listeners.add(onprogress);
      return withoutEra(await client.request({ method, params: { ...params } }, AnyResult, options));
    },
    toolChanges: () => changes,
  };
}
