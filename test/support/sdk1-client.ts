import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { onTestFinished } from 'vitest';
import { z } from 'zod';
import type { KitClient } from '../kits/adapter-kit.ts';
import { tapped } from './frame-tap.ts';

const AnyResult = z.looseObject({});
const Progress = z.object({
  method: z.literal('notifications/progress'),
  params: z.looseObject({ progressToken: z.number() }),
});

/**
 * A real SDK 1.x client over this transport, closed, and its frames judged, when the test ends. It looks at no result. Progress is taken as the
 * transport brings it: the SDK forgets the handler of a call whose result it reads in one turn with its progress.
 */
export async function sdk1Client(bare: Transport): Promise<KitClient> {
  const transport = tapped(bare);
  const client = new Client({ name: 'kit', version: '1' });
  const listeners = new Set<(progress: object) => void>();
  let changes = 0;
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
    changes += 1;
  });
  await client.connect(transport);
  onTestFinished(() => client.close());
  const { onmessage } = transport;
  transport.onmessage = (message, extra) => {
    const progress = Progress.safeParse(message);
    const { progressToken: _token, ...step } = progress.data?.params ?? {};
    if (progress.success) for (const listener of listeners) listener(step);
    onmessage?.(message, extra);
  };
  return {
    request: (method, params = {}, onprogress) => {
      if (onprogress === undefined) return client.request({ method, params: { ...params } }, AnyResult);
      listeners.add(onprogress);
      return client.request({ method, params: { ...params } }, AnyResult, { onprogress: () => {} });
    },
    toolChanges: () => changes,
  };
}
