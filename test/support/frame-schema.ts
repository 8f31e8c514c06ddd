import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Ajv, type AnySchemaObject, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';

/** The revisions whose schema is kept in test/conformance/schema. */
export type Revision = '2025-03-26' | '2025-06-18' | '2025-11-25' | '2026-07-28';

/** What one revision says of the messages a client may receive. Names are those of the schema's definitions. */
export interface FrameSchema {
  readonly revision: Revision;
  /** Names by the method of the message itself. */
  readonly serverRequests: ReadonlyMap<string, string>;
  readonly serverNotifications: ReadonlyMap<string, string>;
  /** Names of results by the method of the client's request. */
  readonly results: ReadonlyMap<string, string>;
  /** Whether the answer to a request with this result may be `input_required` instead. */
  mayNeedInput(result: string): boolean;
  has(name: string): boolean;
  /** Why this value is not what the definition says; undefined when it is. */
  faultOf(name: string, value: unknown): string | undefined;
}

const loaded = new Map<Revision, FrameSchema>();

/** Read once in a process; a definition is compiled when the first value is held against it. */
export function frameSchema(revision: Revision): FrameSchema {
  const known = loaded.get(revision);
  if (known !== undefined) return known;
  const schema = load(revision);
  loaded.set(revision, schema);
  return schema;
}

interface Definition {
  readonly properties?: { readonly method?: { readonly const?: string } };
  readonly anyOf?: readonly { readonly $ref: string }[];
}

function load(revision: Revision): FrameSchema {
  const text = readFileSync(resolve(`test/conformance/schema/${revision}.json`), 'utf8');
  const document: AnySchemaObject = JSON.parse(text);
  const place = '$defs' in document ? '$defs' : 'definitions';
  const definitions: Readonly<Record<string, Definition>> = document[place];
  const membersOf = (union: string) =>
    (definitions[union]?.anyOf ?? []).map(({ $ref }) => $ref.slice($ref.lastIndexOf('/') + 1));
  const byMethod = (union: string): Map<string, string> => {
    const methods = membersOf(union).map((name) => [definitions[name]?.properties?.method?.const, name] as const);
    return new Map(methods.flatMap(([method, name]) => (method === undefined ? [] : [[method, name] as const])));
  };
  const resultOf = (request: string) => {
    const result = request.replace(/Request$/, 'Result');
    return result in definitions ? result : 'EmptyResult';
  };
  return {
    revision,
    serverRequests: byMethod('ServerRequest'),
    serverNotifications: byMethod('ServerNotification'),
    results: new Map([...byMethod('ClientRequest')].map(([method, request]) => [method, resultOf(request)])),
    mayNeedInput: (result) => JSON.stringify(definitions[`${result}Response`] ?? '').includes('/InputRequiredResult"'),
    has: (name) => name in definitions,
    faultOf: judge(document, place),
  };
}

function judge(document: AnySchemaObject, place: string): FrameSchema['faultOf'] {
  // Only upstreams write what has a format. The schemas are as published, and compiled for a few values each.
  const options = { strict: false, validateFormats: false, validateSchema: false, code: { optimize: false } };
  const ajv = place === '$defs' ? new Ajv2020(options) : new Ajv(options);
  ajv.addSchema(document, 'mcp');
  const compiled = new Map<string, ValidateFunction>();
  return (name, value) => {
    const validate = compiled.get(name) ?? ajv.compile({ $ref: `mcp#/${place}/${name}` });
    compiled.set(name, validate);
    if (validate(value)) return undefined;
    return `no ${name}: ${ajv.errorsText(validate.errors, { dataVar: '' })}`;
  };
}
