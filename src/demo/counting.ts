import { setTimeout as delay } from 'node:timers/promises';
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import {
  type ServerNotification,
  type ServerRequest,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';

export const COUNTER_URI = 'demo://counter';

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

/** A tool that reports progress and answers with structured output, and the resource it updates: the number reached last. */
export function registerCounting(server: McpServer): void {
  const counter = registerCounter(server);
  server.registerTool(
    'count',
    {
      title: 'Count',
      description: `Counts from 1 to a number, reports progress at each step and leaves the result in ${COUNTER_URI}.`,
      inputSchema: {
        to: z.number().int().min(1).max(100).describe('Where to stop'),
        stepMs: z.number().int().min(0).max(1000).default(0).describe('Pause between two steps, in milliseconds'),
      },
      outputSchema: { total: z.number().int() },
      annotations: { destructiveHint: false, idempotentHint: true, openWorldHint: false },
    },
    async ({ to, stepMs }, extra) => {
      await countTo(to, stepMs, extra);
      await counter.set(to);
      return { content: [{ type: 'text', text: `Counted to ${to}.` }], structuredContent: { total: to } };
    },
  );
}

async function countTo(total: number, stepMs: number, { signal, sendNotification, _meta }: Extra): Promise<void> {
  const progressToken = _meta?.progressToken;
  for (let progress = 1; progress <= total; progress += 1) {
    if (stepMs > 0) await delay(stepMs, undefined, { signal });
    if (progressToken === undefined) continue;
    await sendNotification({ method: 'notifications/progress', params: { progressToken, progress, total } });
  }
}

function registerCounter(server: McpServer): { set(value: number): Promise<void> } {
  let value = 0;
  let isSubscribed = false;
  server.registerResource(
    'counter',
    COUNTER_URI,
    { title: 'Counter', description: 'The number that count reached last.', mimeType: 'text/plain' },
    () => ({ contents: [{ uri: COUNTER_URI, mimeType: 'text/plain', text: String(value) }] }),
  );
  server.server.registerCapabilities({ resources: { subscribe: true } });
  server.server.setRequestHandler(SubscribeRequestSchema, ({ params }) => {
    if (params.uri === COUNTER_URI) isSubscribed = true;
    return {};
  });
  server.server.setRequestHandler(UnsubscribeRequestSchema, ({ params }) => {
    if (params.uri === COUNTER_URI) isSubscribed = false;
    return {};
  });
  return {
    async set(next) {
      value = next;
      if (isSubscribed) await server.server.sendResourceUpdated({ uri: COUNTER_URI });
    },
  };
}
