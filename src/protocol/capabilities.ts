/** What a server announces in its answer to `initialize` (MCP 2025-11-25, `ServerCapabilities`): the members the gateway makes. */
export interface ServerCapabilities {
  readonly tools?: { readonly listChanged: true };
  readonly prompts?: { readonly listChanged: true };
  readonly resources?: { readonly listChanged: true; readonly subscribe?: true };
  readonly completions?: Readonly<Record<string, never>>;
  readonly logging?: Readonly<Record<string, never>>;
}
