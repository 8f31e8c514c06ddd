import { completable } from '@modelcontextprotocol/sdk/server/completable.js';
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';

const STYLES = ['cheerful', 'formal', 'short'];

/** A prompt with one free argument and one that completes. */
export function registerGreeting(server: McpServer): void {
  const style = z.string().describe(`How to greet: ${STYLES.join(', ')}`);
  server.registerPrompt(
    'greet',
    {
      title: 'Greet someone',
      description: 'Asks the model for a greeting.',
      argsSchema: {
        name: z.string().describe('Who is greeted'),
        style: completable(style, (typed) => STYLES.filter((known) => known.startsWith(typed))),
      },
    },
    (args) => ({
      messages: [{ role: 'user', content: { type: 'text', text: `Write a ${args.style} greeting for ${args.name}.` } }],
    }),
  );
}
