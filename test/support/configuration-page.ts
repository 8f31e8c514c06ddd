import { type KnownKey, knownKeys } from '../../src/config/known-keys.ts';
import { UNBUILT } from '../../src/config/unbuilt.ts';

/** docs/configuration.md as the schema says it; `npx vitest run test/unit/config-documented.test.ts -u` writes it. */
export function configurationPage(): string {
  return [INTRODUCTION, table(), refused(), ''].join('\n');
}

const INTRODUCTION = `# Configuration

One YAML file, given by \`serve --config FILE\`; \`config/gateway.yaml\` runs as it is. This page is written by
\`test/unit/config-documented.test.ts\` from the schema the gateway judges the file by, so the two never differ.

* **Durations** are \`500ms\`, \`10s\`, \`5m\`, \`24h\`, \`30d\`; **sizes** \`64KiB\`, \`4MiB\`. A bare number is neither.
* **Relative paths** begin at the directory of the file. A \`command\` is one only with \`./\` or \`../\` in front.
* **Substitution** happens in text values, never in keys, after the file was parsed: \`\${VAR}\`, \`\${VAR:-default}\` (the default
  also when \`VAR\` is empty, as in a shell), \`\${file:path}\` (one newline at the end is dropped); \`$$\` is \`$\`. An unset \`\${VAR}\` stops the start.
* **Environment**: \`MCP_GW__LIMITS__PING_INTERVAL=20s\` sets \`limits.pingInterval\`: \`MCP_GW__\`, then \`__\` between levels and \`_\` before
  each capital. It overrides the file, sets single values only, and never anything in \`policy\`, \`auth.issuers\` or \`mcpServers\`.
* **Mistakes** stop the start with one sentence each: an unknown key (with the nearest known one), a value of the wrong kind, a
  variable or file that is not there, a key this version does not act on (the list at the end). Values are never quoted.
* **Entries of \`mcpServers\`** may be copied from the files of MCP hosts: \`type\` or \`transport\` may be \`streamable-http\` or \`streamableHttp\`,
  and keys that only concern a host (\`autoApprove\`, \`alwaysAllow\`, \`disabledTools\`, \`icon\`, …) are named in a warning and have no effect.
  A disabled entry is not judged at all. Keys are 1 to 24 of \`a-z\`, \`0-9\` and \`-\`; their order in the file decides who owns a name or URI.
* **Processes** of stdio upstreams end with the gateway: by a signal, a second one, or an error nobody caught, also where they ignore SIGTERM.
  Where the gateway itself is killed (\`kill -9\`, out of memory) nothing ends them but the end of their stdin: servers that heed it, behind
  \`sh -c\` too, were gone within 50 ms; one that does not stays. In a container they go with it.

In the table \`*\` stands for a key of your choice or for an item of a list. No default means that the key is required, or has no effect when it is absent.

| key | kind | default | what it is |
|---|---|---|---|`;

function table(): string {
  return documentedKeys().map(row).join('\n');
}

/** Every key that says something; a mapping without a sentence is told by its keys. */
export function documentedKeys(): KnownKey[] {
  return knownKeys().filter((key) => key.sentence !== undefined || key.kind !== 'mapping');
}

function row(key: KnownKey): string {
  const kind = key.nullable && !key.kind.includes('null') ? `${key.kind}, or null` : key.kind;
  const fallback = key.fallback === undefined ? '' : `\`${key.fallback.replaceAll('`', '')}\``;
  return `| \`${key.path.join('.')}\` | ${kind} | ${fallback} | ${key.sentence ?? ''} |`;
}

function refused(): string {
  const keys = UNBUILT.map((entry) => `\`${entry.key}\``);
  return `
## Known, and refused by this version

These keys belong to the contract and nothing acts on them yet. Setting one stops the start; \`null\`, and the empty list or zero where
that is the default, is accepted: ${keys.join(', ')}.

Of \`audit.arguments\`, \`none\` and \`keys\` are accepted.`;
}
