import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { loadConfigText } from '../../src/config/load.ts';
import type { Config } from '../../src/config/schema.ts';

type Env = Readonly<Record<string, string>>;

/** The least file that starts. */
export const ANONYMOUS = 'auth: { mode: anonymous }\n';

/** The least file in jwt mode; `rest` is added to it. */
export function jwtFile(keys = '{ jwksUri: "https://idp.example/jwks" }', rest = 'policy: null\n'): string {
  return `auth:
  mode: jwt
  resource: https://mcp.example/mcp
  issuers:
    - issuer: https://idp.example
      keys: ${keys}
${rest}`;
}

/** A text as the gateway reads it from `gateway.yaml` in `directory`; fails the test with the problems when it is refused. */
export function accepted(text: string, env: Env = {}, directory = '/srv'): Config {
  return loaded(text, env, directory).config;
}

export function warnings(text: string, env: Env = {}): readonly string[] {
  return loaded(text, env, '/srv').warnings;
}

export function hashOf(text: string, env: Env = {}): string {
  return loaded(text, env, '/srv').hash;
}

export function problems(text: string, env: Env = {}, directory = '/srv'): readonly string[] {
  const result = loadConfigText(text, join(directory, 'gateway.yaml'), env);
  return result.ok ? [] : result.problems;
}

function loaded(text: string, env: Env, directory: string) {
  const result = loadConfigText(text, join(directory, 'gateway.yaml'), env);
  if (result.ok) return result;
  throw new Error(`refused: ${result.problems.join('; ')}`);
}

/** Writes a file into a directory of its own that goes with the test; returns its path. */
export function fileWith(name: string, text: string): string {
  const path = join(mkdtempSync(join(tmpdir(), 'gateway-config-')), name);
  onTestFinished(() => rmSync(dirname(path), { recursive: true }));
  writeFileSync(path, text);
  return path;
}
