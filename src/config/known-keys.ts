import { z } from 'zod';
import { configSchema } from './schema.ts';
import type { KeyMeta } from './schema-kinds.ts';

/** One key of the configuration as its schema describes it. */
export interface KnownKey {
  /** `*` stands for a key of the operator's choice or an item of a list. */
  readonly path: readonly string[];
  readonly kind: string;
  /** As one writes it in the file; undefined where there is none. */
  readonly fallback: string | undefined;
  readonly sentence: string | undefined;
  /** One environment variable can hold it. */
  readonly scalar: boolean;
  readonly nullable: boolean;
}

/** Every key once, in the order of the schema, mappings before what they hold. */
export function knownKeys(): readonly KnownKey[] {
  const found = new Map<string, KnownKey>();
  for (const key of keysUnder(configSchema, [])) {
    const name = key.path.join('.');
    if (!found.has(name)) found.set(name, key);
  }
  return [...found.values()];
}

/** What is left of a schema once the wrappers are off, and what they said. */
interface Bare {
  readonly schema: unknown;
  readonly meta: KeyMeta;
  readonly nullable: boolean;
  readonly fallback: string | undefined;
}

function keysUnder(schema: unknown, path: readonly string[]): KnownKey[] {
  const { schema: bare } = unwrap(schema);
  if (bare instanceof z.ZodObject) {
    return Object.entries(bare.shape).flatMap(([name, child]) => [
      describe(child, [...path, name]),
      ...keysUnder(child, [...path, name]),
    ]);
  }
  if (bare instanceof z.ZodUnion) return bare.options.flatMap((option) => keysUnder(option, path));
  if (bare instanceof z.ZodArray) return keysUnder(bare.element, [...path, '*']);
  if (bare instanceof z.ZodRecord) return keysUnder(bare.valueType, [...path, '*']);
  return [];
}

function describe(schema: unknown, path: readonly string[]): KnownKey {
  const { meta, nullable, fallback, schema: bare } = unwrap(schema);
  const kind = meta.kind ?? (bare instanceof z.ZodObject || bare instanceof z.ZodRecord ? 'mapping' : 'text');
  return {
    path,
    kind,
    nullable,
    fallback: meta.default ?? fallback,
    sentence: meta.description,
    scalar: meta.scalar === true,
  };
}

function unwrap(schema: unknown): Bare {
  let current = schema;
  let meta: KeyMeta = {};
  let nullable = false;
  let fallback: string | undefined;
  for (;;) {
    if (current instanceof z.ZodType) meta = { ...z.globalRegistry.get(current), ...meta };
    if (current instanceof z.ZodPrefault) fallback = yamlText(current.def.defaultValue);
    if (current instanceof z.ZodNullable) nullable = true;
    const inner = innerOf(current);
    if (inner === undefined) return { schema: current, meta, nullable, fallback };
    current = inner;
  }
}

function innerOf(schema: unknown): unknown {
  if (schema instanceof z.ZodPrefault || schema instanceof z.ZodNullable) return schema.unwrap();
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodExactOptional) return schema.unwrap();
  return schema instanceof z.ZodPipe ? schema.in : undefined;
}

function yamlText(value: unknown): string {
  return typeof value === 'string' && value !== '' && !/^[\s_]|[:#]/.test(value) ? value : JSON.stringify(value);
}
