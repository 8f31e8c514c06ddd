import { Catalogue, type CatalogueUpstream, type SeenPart } from '../../src/catalogue/catalogue.ts';
import { type Definition, LIST_FORMS, readList } from '../../src/catalogue/definitions.ts';
import type { ItemKind } from '../../src/ports/meter.ts';
import { recordedLog, recordedMeter } from './recorded.ts';

export interface Listed {
  readonly tools?: readonly string[];
  readonly resources?: readonly string[];
  readonly templates?: readonly string[];
  readonly prompts?: readonly string[];
  readonly capabilities?: Readonly<Record<string, unknown>>;
  readonly instructions?: string;
  /** Goes into every definition, to make it another one. */
  readonly revision?: number;
}

/** The part of an upstream that lists these names and URIs and announces tools, resources and prompts. */
export function part(listed: Listed): SeenPart {
  const list = (kind: ItemKind): readonly Definition[] => {
    const { member, name } = LIST_FORMS[kind];
    const items = (listed[kind] ?? []).map((value) => ({ [name]: value, revision: listed.revision }));
    const page = readList(JSON.stringify({ [member]: items }), kind);
    return page === 'not_a_list' ? [] : page.items;
  };
  return {
    era: 'handshake',
    capabilities: listed.capabilities ?? { tools: {}, resources: {}, prompts: {} },
    instructions: listed.instructions,
    lists: {
      tools: list('tools'),
      resources: list('resources'),
      templates: list('templates'),
      prompts: list('prompts'),
    },
  };
}

/** A catalogue of upstreams in this order, each with its key for a prefix, and what it measured and logged. */
export function catalogueOf(...upstreams: (string | (Partial<CatalogueUpstream> & { readonly key: string }))[]) {
  const meter = recordedMeter();
  const log = recordedLog();
  const catalogue = new Catalogue({
    upstreams: upstreams.map((each) => {
      const { key, ...rest } = typeof each === 'string' ? { key: each } : each;
      return { key, prefix: key, isolation: 'session', uris: null, ...rest };
    }),
    naming: { separator: '__', maxLength: 64 },
    meter,
    log,
  });
  return { catalogue, meter, log };
}
