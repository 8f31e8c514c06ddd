import type { McpServer, RegisteredTool } from '@modelcontextprotocol/sdk/server/mcp.js';

/** A tool that adds another one and removes it again, each time with `notifications/tools/list_changed`. */
export function registerToggle(server: McpServer): void {
  let extra: RegisteredTool | undefined;
  server.registerTool(
    'toggle',
    {
      title: 'Toggle',
      description: 'Adds the tool "extra" to the list, or removes it when it is there.',
      annotations: { destructiveHint: false, openWorldHint: false },
    },
    () => {
      const added = extra === undefined;
      extra?.remove();
      extra = added ? registerExtra(server) : undefined;
      return { content: [{ type: 'text', text: added ? 'Added extra.' : 'Removed extra.' }] };
    },
  );
}

function registerExtra(server: McpServer): RegisteredTool {
  return server.registerTool(
    'extra',
    { title: 'Extra', description: 'Is there only while toggled on.', annotations: { readOnlyHint: true } },
    () => ({ content: [{ type: 'text', text: 'Here I am.' }] }),
  );
}
