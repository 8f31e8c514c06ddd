import { Client, type Transport } from '@modelcontextprotocol/client';
import { onTestFinished } from 'vitest';
import { z } from 'zod';
import type { KitClient } from '../kits/adapter-kit.ts';

const AnyResult = z.looseObject({});
const Progress = z.object({
  method: z.literal('notifications/progress'),
  params: z.looseObject({ progressToken: z.union([z.number(), z.string()]) }),
});

/** A real SDK 2.x client that opens with `initialize`, closed when the test ends. It looks at no result; progress is taken as the transport brings it. */
export async function sdk2Client(transport: Transport): Promise<KitClient> {
  const client = new Client({ name: 'kit', version: '1' });
  const listeners = new Set<(progress: object) => void>();
  let changes = 0;
  client.setNotificationHandler('notifications/tools/list_changed', () => {
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
