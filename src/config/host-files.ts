import { nearest } from './nearest.ts';
import { isMapping, type Mapping, type Path, type Problem, pathText } from './problem.ts';
import { parseFlag } from './units.ts';

/** Keys that MCP hosts keep in their server entries and that say nothing to a gateway. */
const HOST_ONLY = new Set([
  'alwaysAllow',
  'autoApprove',
  'autoStart',
  'category',
  'description',
  'disabledTools',
  'displayName',
  'enabledTools',
  'excludeTools',
  'gallery',
  'icon',
  'icons',
  'includeTools',
  'name',
  'tags',
  'title',
  'trust',
  'version',
]);

/** What hosts call the types of upstream, and what we call them. */
const TYPES = new Map([
  ['stdio', 'stdio'],
  ['http', 'http'],
  ['streamable-http', 'http'],
  ['streamableHttp', 'http'],
  ['module', 'module'],
  ['sse', 'sse'],
  ['ws', 'ws'],
  ['tcp', 'tcp'],
]);

const SCHEMES = new Map([
  ['ws', 'ws'],
  ['wss', 'ws'],
  ['tcp', 'tcp'],
]);

export interface HostEntries {
  /** The `mcpServers` mapping with each entry in the schema's own words. */
  readonly servers: unknown;
  readonly problems: readonly Problem[];
  readonly warnings: readonly string[];
  /** Keys of entries that are switched off: nothing in them is judged. */
  readonly disabled: readonly string[];
}

/** Reads entries as people already have them in the files of MCP hosts. What is no mapping is left for the schema to refuse. */
export function readHostEntries(servers: unknown): HostEntries {
  const problems: Problem[] = [];
  const warnings: string[] = [];
  const disabled: string[] = [];
  if (!isMapping(servers)) return { servers, problems, warnings, disabled };
  const kept: Mapping = {};
  for (const [key, entry] of Object.entries(servers)) {
    if (!isMapping(entry)) {
      kept[key] = entry;
    } else if (isOff(entry)) {
      disabled.push(key);
    } else {
      warnings.push(...hostOnlyKeys(entry).map((name) => warningAbout(['mcpServers', key, name])));
      const read = readEntry(entry);
      if ('problem' in read) problems.push({ ...read.problem, path: ['mcpServers', key, ...read.problem.path] });
      else kept[key] = read.entry;
    }
  }
  return { servers: kept, problems, warnings, disabled };
}

function isOff(entry: Mapping): boolean {
  return parseFlag(entry.enabled) === false || parseFlag(entry.disabled) === true;
}

function hostOnlyKeys(entry: Mapping): string[] {
  return Object.keys(entry).filter((name) => HOST_ONLY.has(name));
}

function warningAbout(path: Path): string {
  return `${pathText(path)} is a key of MCP hosts and has no effect here; policy decides what callers reach`;
}

/** The entry in the schema's words, or the one thing that keeps it from being read. */
function readEntry(entry: Mapping): { readonly entry: Mapping } | { readonly problem: Problem } {
  const { type, transport, disabled, ...rest } = entry;
  for (const name of hostOnlyKeys(entry)) delete rest[name];
  if (disabled !== undefined && parseFlag(disabled) === undefined) return fault('must be true or false', 'disabled');
  const said = type ?? transport;
  const read = said === undefined ? typeBy(rest) : TYPES.get(String(said));
  if (read === undefined && said !== undefined) {
    return fault(`must be one of ${[...TYPES.keys()].join(', ')}`, type === undefined ? 'transport' : 'type');
  }
  if (read === undefined) return fault(`must hold exactly one of command, url and module${hint(rest)}`);
  if (transport !== undefined && TYPES.get(String(transport)) !== read)
    return fault('says something else than type', 'transport');
  return { entry: { ...rest, type: read } };
}

function fault(text: string, ...path: readonly string[]): { readonly problem: Problem } {
  return { problem: { path, text } };
}

/** What was perhaps meant by a key that is close to one of the three. */
function hint(entry: Mapping): string {
  for (const key of Object.keys(entry)) {
    const meant = nearest(key, WAYS);
    if (meant !== undefined && meant !== key) return `; did you mean \`${meant}\` by \`${key}\`?`;
  }
  return '';
}

/** How an upstream is reached, one key each. */
const WAYS = ['command', 'url', 'module'];

/** The type an entry shows by the one key that says how it is reached. */
function typeBy(entry: Mapping): string | undefined {
  const ways = WAYS.filter((key) => entry[key] !== undefined);
  if (ways.length !== 1) return undefined;
  if (entry.command !== undefined) return 'stdio';
  if (entry.module !== undefined) return 'module';
  const scheme = /^([a-z]+):/i.exec(String(entry.url))?.[1]?.toLowerCase();
  return SCHEMES.get(scheme ?? '') ?? 'http';
}
