import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Definition, type ListPage, publicText, readList } from '../../src/catalogue/definitions.ts';
import type { ItemKind } from '../../src/ports/meter.ts';

function read(text: string, kind: ItemKind = 'tools', taken?: Set<string>): ListPage {
  const page = readList(text, kind, taken);
  if (page === 'not_a_list') throw new Error('not a list');
  return page;
}

function reasons(page: ListPage): string[] {
  return page.skipped.map(({ reason }) => reason);
}

function only(page: ListPage): Definition {
  const [first, ...rest] = page.items;
  if (first === undefined || rest.length > 0) throw new Error('not exactly one');
  return first;
}

describe('definitions', () => {
  it('keep their text: big integers, vendor fields, key order, escapes', () => {
    const tool = '{"x-vendor":9223372036854775807,"name":"a\\u0062", "inputSchema":{"z":1.0,"a":"\\u00e9"}}';
    const item = only(read(`{"tools":[${tool}]}`));
    expect(item.original).toBe('ab');
    expect(item.text).toBe(tool);
    expect(publicText(item, 'up__ab')).toBe(
      '{"x-vendor":9223372036854775807,"name":"up__ab", "inputSchema":{"z":1.0,"a":"\\u00e9"}}',
    );
  });

  it('fit on one line whatever the upstream breaks', () => {
    const item = only(read('{"tools":\r\n[{\n"name":\r"a"}]}'));
    expect(publicText(item, 'b')).toBe('{ "name": "b"}');
  });

  it('are found by what identifies their kind', () => {
    expect(only(read('{"resources":[{"name":"n","uri":"a://b"}]}', 'resources')).original).toBe('a://b');
    expect(only(read('{"resourceTemplates":[{"uriTemplate":"a://{b}","name":"n"}]}', 'templates')).original).toBe(
      'a://{b}',
    );
    expect(only(read('{"prompts":[{"name":"p"}]}', 'prompts')).original).toBe('p');
  });

  it('hide nothing else when malformed (B107: a schema nobody can resolve is not malformed)', () => {
    const page = read(`{"tools":[{"name":"a"},7,null,[],"s",{"title":"t"},{"name":1},
      {"name":"x","name":"y"},{"name":"x","n\\u0061me":"y"},{"NAME":"z"},{"name":"k","Name":"k"},{"name":"a","other":1},
      {"name":"b","outputSchema":{"$ref":"#/nowhere"}}]}`);
    expect(page.items.map(({ original }) => original)).toEqual(['a', 'b']);
    expect(reasons(page)).toEqual([
      ...['not_an_object', 'not_an_object', 'not_an_object', 'not_an_object', 'no_name', 'no_name'],
      ...['ambiguous', 'ambiguous', 'ambiguous', 'ambiguous', 'repeated'],
    ]);
  });

  it('of earlier pages win over later ones of the same name', () => {
    const taken = new Set<string>();
    read('{"tools":[{"name":"a"}]}', 'tools', taken);
    const page = read('{"tools":[{"name":"a"},{"name":"b"}]}', 'tools', taken);
    expect(only(page).original).toBe('b');
    expect(reasons(page)).toEqual(['repeated']);
  });

  it('have equal digests only when their texts are equal', () => {
    const page = read('{"tools":[{"name":"a","v":1},{"name":"b","v":1}]}');
    const again = read('{"tools":[{"name":"b","v":1},{"name":"a","v":2}]}');
    expect(page.items[1]?.digest).toBe(again.items[0]?.digest);
    expect(page.items[0]?.digest).not.toBe(again.items[1]?.digest);
  });

  it('tell a missing cursor from an empty one', () => {
    expect(read('{"tools":[]}').nextCursor).toBeUndefined();
    expect(read('{"tools":[],"nextCursor":null}').nextCursor).toBeUndefined();
    expect(read('{"tools":[],"nextCursor":""}').nextCursor).toBe('');
  });

  it.each(['{}', '[]', '"tools"', '{"tools":{}}', '{"Tools":[]}', '{"tools":[],"tools":[]}'])(
    'are not in %s',
    (text) => {
      expect(readList(text, 'tools')).toBe('not_a_list');
    },
  );

  it('property: every definition with a name is kept, and renaming changes the name alone', () => {
    const definition = fc.dictionary(
      fc.string().filter((key) => key.toLowerCase() !== 'name'),
      fc.jsonValue(),
    );
    const named = fc.tuple(fc.string({ unit: 'binary' }), definition, fc.boolean());
    fc.assert(
      fc.property(
        fc.uniqueArray(named, { selector: ([name]) => name }),
        fc.string({ unit: 'binary' }),
        (all, renamed) => {
          const values = all.map(([name, rest, last]) => (last ? { ...rest, name } : { name, ...rest }));
          const page = read(JSON.stringify({ tools: values }, undefined, 1));
          expect(page.items.map(({ original }) => original)).toEqual(all.map(([name]) => name));
          expect(page.items.map((item) => JSON.parse(publicText(item, renamed)))).toEqual(
            JSON.parse(JSON.stringify(values.map((value) => ({ ...value, name: renamed })))),
          );
        },
      ),
    );
  });
});
