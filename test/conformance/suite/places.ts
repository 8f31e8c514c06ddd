import { fileURLToPath } from 'node:url';
import { startSdk1Http } from './fixture/sdk1-http.ts';
import { startSdk2Http } from './fixture/sdk2-http.ts';
import { startGatewayProcess, type Upstream } from './gateway-process.ts';
import type { Listening } from './listen.ts';
import { startShim } from './shim/shim.ts';
import type { Suite } from './suites.ts';

export const KINDS = ['module', 'stdio', 'http'] as const;
export type Kind = (typeof KINDS)[number];

/** Opens shim, gateway and fixture, the fixture as this kind of upstream, for a suite; the URL is the shim's. */
export async function openPlace(kind: Kind, { sdk, revision }: Suite): Promise<Listening> {
  const opened: (() => Promise<void>)[] = [];
  const close = async () => {
    for (const each of opened.reverse()) await each();
  };
  try {
    const http = kind === 'http' ? await (sdk === 1 ? startSdk1Http() : startSdk2Http()) : undefined;
    if (http !== undefined) opened.push(http.close);
    const shim = await startShim();
    opened.push(shim.close);
    const upstream = http === undefined ? inFile(kind, sdk) : { url: http.url };
    const gateway = await startGatewayProcess({ ...upstream, ...isolation(revision) }, [new URL(shim.url).origin]);
    opened.push(gateway.close);
    shim.connectTo(gateway.url);
    return { url: shim.url, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The modern set changes lists by a call and waits for the news on another request: one process must hear both. */
function isolation(revision: Suite['revision']): Upstream {
  return revision === '2026-07-28' ? { isolation: 'shared' } : {};
}

function inFile(kind: Kind, sdk: Suite['sdk']): Upstream {
  const built = (name: string) => fileURLToPath(new URL(`./fixture/sdk${sdk}-${name}.js`, import.meta.url));
  return kind === 'module' ? { module: built('server') } : { command: process.execPath, args: [built('stdio')] };
}
