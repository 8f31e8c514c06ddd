import { mirrorsOf } from '../protocol/mirrors.ts';
import type { Definition } from './definitions.ts';

export interface Mirroring {
  readonly kept: readonly Definition[];
  readonly refused: readonly RefusedTool[];
}

export interface RefusedTool {
  readonly tool: string;
  readonly problem: string;
}

/** Tools of an upstream that wants parameters repeated in headers, with what each wants; a client leaves out those that say so in an invalid way (MCP 2026-07-28, Schema Extension). */
export function withMirrors(tools: readonly Definition[]): Mirroring {
  const kept: Definition[] = [];
  const refused: RefusedTool[] = [];
  for (const definition of tools) {
    const mirrors = mirrorsOf(definition.text);
    if (mirrors === undefined) kept.push(definition);
    else if ('problem' in mirrors) refused.push({ tool: definition.original, problem: mirrors.problem });
    else kept.push({ ...definition, mirrors });
  }
  return { kept, refused };
}
