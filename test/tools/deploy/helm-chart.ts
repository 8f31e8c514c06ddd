import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments, stringify } from 'yaml';
import type { Deploy } from './check.ts';
import { helmOf } from './helm-program.ts';

/** One object of the rendered chart. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

export const CHART = 'helm';
export const FULL = 'helm/ci/full-values.yaml';
/** Of the release that is rendered everywhere here. */
export const NAME = 'gw-mcp-ws-gateway';

/** What values files say, from the weakest to the strongest: the path of one, or its content. */
export type Values = readonly (string | object)[];

/** The objects of the chart, its test among them. Rejects with what Helm said against the values. */
export async function render(deploy: Deploy, values: Values = []): Promise<Manifest[]> {
  const helm = await helmOf(deploy);
  const text = await helm.run('template', 'gw', CHART, '--namespace', 'mcp', ...flagsOf(deploy, values));
  return parseAllDocuments(text).flatMap((document) => {
    if ('empty' in document || document.errors.length > 0) throw new Error(`no YAML: ${document.toString()}`);
    const content: unknown = document.toJS();
    return content === null ? [] : [manifestOf(content)];
  });
}

/** What Helm prints to whoever installs the chart. */
export async function notes(deploy: Deploy, values: Values = []): Promise<string> {
  const helm = await helmOf(deploy);
  const args = ['--dry-run=client', '--namespace', 'mcp', ...flagsOf(deploy, values)];
  const [, text] = (await helm.run('install', 'gw', CHART, ...args)).split('\nNOTES:\n');
  if (text === undefined) throw new Error('helm install --dry-run=client printed no NOTES');
  return text.trim();
}

/** The one object of this kind and name. */
export function only(manifests: readonly Manifest[], kind: string, name: string): Manifest {
  const [found, ...others] = manifests.filter((one) => one.kind === kind && one.metadata.name === name);
  if (found === undefined || others.length > 0) throw new Error(`${others.length + 1} ${kind} ${name} expected`);
  return found;
}

/** What stands there in a tree of mappings and lists. */
export function at(tree: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((value, step) => {
    if (value === null || typeof value !== 'object') throw new Error(`${path.join('.')} ends before ${step}`);
    return Reflect.get(value, step);
  }, tree);
}

export function flagsOf(deploy: Deploy, values: Values): string[] {
  return values.flatMap((one) => ['--values', typeof one === 'string' ? one : written(deploy, one)]);
}

function written(deploy: Deploy, content: object): string {
  const file = join(mkdtempSync(join(deploy.scratch, 'values-')), 'values.yaml');
  writeFileSync(file, stringify(content));
  return file;
}

function manifestOf(content: unknown): Manifest {
  const texts = [at(content, 'apiVersion'), at(content, 'kind'), at(content, 'metadata', 'name')];
  const [apiVersion, kind, name] = texts.map(String);
  if (apiVersion === undefined || kind === undefined || name === undefined || texts.includes(undefined))
    throw new Error(`not an object of Kubernetes: ${JSON.stringify(content)}`);
  return { ...(content as object), apiVersion, kind, metadata: at(content, 'metadata') as { name: string } };
}
