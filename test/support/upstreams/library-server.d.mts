import type { Server } from '@modelcontextprotocol/sdk/server/index.js';

export interface WorldOptions {
  readonly tag?: string;
  /** What it says of itself, until a client asks for another level. */
  readonly logLevel?: string;
  readonly resources?: readonly string[];
  readonly templates?: readonly string[];
}

export interface World {
  readonly tag: string;
}

export function makeWorld(options?: WorldOptions): World;
export function createLibrary(world: World, record: (line: string) => void): Server;
