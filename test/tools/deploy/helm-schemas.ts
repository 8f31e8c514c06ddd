import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Deploy } from './check.ts';
import type { Manifest } from './helm-chart.ts';
import { helmOf } from './helm-program.ts';

/** Which package has the kinds of an API version, each as a class that validates and as the type of its literals. */
const MODELS: ReadonlyMap<string, string> = new Map([
  ['v1', 'kubernetes-models/v1'],
  ['apps/v1', 'kubernetes-models/apps/v1'],
  ['autoscaling/v2', 'kubernetes-models/autoscaling/v2'],
  ['networking.k8s.io/v1', 'kubernetes-models/networking.k8s.io/v1'],
  ['policy/v1', 'kubernetes-models/policy/v1'],
  ['gateway.networking.k8s.io/v1', '@kubernetes-models/gateway-api/gateway.networking.k8s.io/v1'],
  ['monitoring.coreos.com/v1', '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1'],
]);

/**
 * What is wrong with each manifest by the schemas of its kind, in their order; an empty list where nothing is. The schemas
 * themselves let unknown keys pass. The compiler does not: a key that its type does not have is an error in a literal.
 */
export async function schemaFaults(deploy: Deploy, manifests: readonly Manifest[]): Promise<string[][]> {
  const folder = mkdtempSync(join((await helmOf(deploy)).folder, 'manifests-'));
  manifests.forEach((manifest, index) => {
    writeFileSync(join(folder, `${index}.mts`), literalOf(manifest));
  });
  writeFileSync(join(folder, 'validate.mjs'), validatorOf(manifests));
  const [compiled, validated] = await Promise.all([
    output(deploy, [join(deploy.root, 'node_modules/typescript/bin/tsc'), ...COMPILE, ...filesOf(manifests)], folder),
    output(deploy, ['validate.mjs'], folder),
  ]);
  const lines = `${compiled}\n${validated}`.split('\n');
  return manifests.map((_, index) => lines.filter((line) => new RegExp(`^${index}(\\.mts\\(|: )`).test(line)));
}

const COMPILE = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2022', '--types', ''];

function filesOf(manifests: readonly Manifest[]): string[] {
  return manifests.map((_, index) => `${index}.mts`);
}

function modelOf({ apiVersion }: Manifest): string {
  const model = MODELS.get(apiVersion);
  if (model === undefined) throw new Error(`no schema is known for ${apiVersion}`);
  return model;
}

function literalOf(manifest: Manifest): string {
  const type = `I${manifest.kind}`;
  const literal = JSON.stringify(manifest, undefined, 1);
  return `import type { ${type} } from '${modelOf(manifest)}';\nexport const manifest: ${type} = ${literal};\n`;
}

function validatorOf(manifests: readonly Manifest[]): string {
  const steps = manifests.map(
    (manifest, index) =>
      `await judge(${index}, '${modelOf(manifest)}', '${manifest.kind}', ${JSON.stringify(manifest)});`,
  );
  return [VALIDATOR, ...steps, ''].join('\n');
}

const VALIDATOR = `async function judge(index, model, kind, manifest) {
  try {
    new (await import(model))[kind](manifest).validate();
  } catch (error) {
    console.log(index + ': ' + error.message);
  }
}`;

/** What Node printed on its standard output; the compiler fails where it finds something. */
async function output(deploy: Deploy, args: readonly string[], cwd: string): Promise<string> {
  return deploy.sh(process.execPath, args, { cwd }).then(
    ({ stdout }) => stdout,
    (error: Error) => {
      if (!/^\d+\.mts\(/m.test(error.message)) throw error;
      return error.message;
    },
  );
}
