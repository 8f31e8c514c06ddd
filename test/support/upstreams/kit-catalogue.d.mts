import type { Server } from '@modelcontextprotocol/sdk/server/index.js';

type Definitions = readonly Readonly<Record<string, unknown>>[];

export const DEFINITIONS: {
  readonly tools: Definitions;
  readonly resources: Definitions;
  readonly resourceTemplates: Definitions;
  readonly prompts: Definitions;
};

export default function createServer(): Server;
