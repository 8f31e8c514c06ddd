// biome-ignore-all lint/suspicious/noTemplateCurlyInString: substitutions are what these texts are about
import { dirname } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { substitute } from '../../src/config/substitute.ts';
import { ANONYMOUS, accepted, fileWith, problems } from '../support/config-fixtures.ts';

const env = { A: 'one', EMPTY: '', SNEAKY: '${A}', PORT: '9000' };

function argument(text: string, directory?: string): string | undefined {
  const config = accepted(
    `${ANONYMOUS}mcpServers: { s: { command: x, args: [${JSON.stringify(text)}] } }`,
    env,
    directory,
  );
  const server = config.mcpServers[0];
  return server?.type === 'stdio' ? server.args[0] : undefined;
}

test.each([
  ['${A}', 'one'],
  ['<${A}${A}>', '<oneone>'],
  ['${EMPTY}', ''],
  ['${EMPTY:-two}', 'two'],
  ['${UNSET:-two}', 'two'],
  ['${UNSET:-}', ''],
  ['${UNSET:-a ${A} b}', 'a one b'],
  ['${A:-${UNSET}}', 'one'],
  ['$${A}', '${A}'],
  ['$$$$', '$$'],
  ['$A costs 5$', '$A costs 5$'],
  ['${SNEAKY}', '${A}'],
])('%s becomes %s', (text, result) => {
  expect(argument(text)).toBe(result);
});

test('a file is read beside the configuration, without its last newline', () => {
  const file = fileWith('token', 'secret\n\n');
  expect(argument('Bearer ${file:token}', dirname(file))).toBe('Bearer secret\n');
});

test('numbers and flags may come by substitution', () => {
  const config = accepted(
    `${ANONYMOUS}listen: { port: "\${PORT}" }\nmcpServers: { s: { command: x, required: "\${R:-true}" } }`,
    env,
  );
  expect(config.listen.port).toBe(9000);
  expect(config.mcpServers[0]?.required).toBe(true);
});

test('keys are never substituted', () => {
  expect(problems(`${ANONYMOUS}"\${A}": 1`, env)).toEqual(['unknown key `"${A}"`']);
});

test.each([
  ['${UNSET}', 's.args[0] needs the environment variable UNSET, which is not set'],
  ['${A:-x', 's.args[0] holds a ${ that is not closed; write $${ for the text itself'],
  ['${A:?x}', 's.args[0] holds a ${…} that is none of ${VAR}, ${VAR:-default} and ${file:path}'],
  ['${file:gone}', 's.args[0] needs the file gone, which cannot be read (ENOENT)'],
  ['${file:.}', 's.args[0] needs the file ., which cannot be read (EISDIR)'],
])('%s is refused', (text, sentence) => {
  expect(problems(`${ANONYMOUS}mcpServers: { s: { command: x, args: ['${text}'] } }`, env)).toEqual([
    `mcpServers.${sentence}`,
  ]);
});

test('any text comes out as it went in once its dollars are doubled', () => {
  const nothing = { variable: () => undefined, file: () => ({ fault: 'ENOENT' }) };
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('$', '{', '}', ':', '-', 'A', 'é') }), (text) => {
      expect(substitute(text.replaceAll('$', '$$$$'), nothing)).toEqual({ ok: true, text });
    }),
  );
});
