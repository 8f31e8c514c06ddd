import { isDeepStrictEqual } from 'node:util';
import { doorOf, startGateway } from './gateways.ts';
import { type Host, startHost } from './host.ts';
import { PREFIX } from './names.ts';
import type { Shape, Side } from './pairs.ts';
import { type Row, ratio } from './row.ts';
import { scratchFile } from './scratch.ts';
import type { Door } from './socket.ts';
import { type Page, resultOf, Walker } from './walker.ts';

/** A process with its sockets, and the list it has for each of them. */
interface Served {
  readonly host: Host;
  readonly walkers: readonly Walker[];
  readonly pages: readonly Page[];
}

const SOCKETS = 100;
const NAMED = `"name":"${PREFIX}`;

/** Walks by the gateway's clients against those by clients of an `McpServer`, which builds each definition each time. */
export async function againstMcpServer(): Promise<Row> {
  const server = await serve(await startHost('list-server', []));
  const gateway = await serveThrough(server);
  const row = await ratio(0.05, 'walk', cost(gateway, 25), cost(server, 5), { slices: 4, warmUp: 2 });
  await Promise.all([gateway.host.stop(), server.host.stop()]);
  return row;
}

/** Walks by the gateway's clients against those by clients of a low-level `Server` that has the same pages ready. */
export async function againstServer(): Promise<Row> {
  const definitions = await serve(await startHost('list-server', []), 1);
  const gateway = await serveThrough(definitions);
  await definitions.host.stop();
  const results = gateway.pages.map(({ cursor, frame }) => ({ cursor, result: resultOf(frame) }));
  const server = await serve(await startHost('list-server', [scratchFile(JSON.stringify(results))]));
  same(gateway, server);
  const shape: Shape = { slices: 4, warmUp: 4 };
  const row = await ratio(0.5, 'walk', cost(gateway, 25), cost(server, 25), shape);
  await Promise.all([gateway.host.stop(), server.host.stop()]);
  return row;
}

/** A gateway before a child with the definitions of this server. */
async function serveThrough(server: Served): Promise<Served> {
  const definitions = JSON.stringify(toolsOf(server)).replaceAll(NAMED, '"name":"');
  const host = await startGateway({ child: [scratchFile(definitions), 'handshake'], rules: 2 });
  const gateway = await serve(host, SOCKETS, await doorOf(host));
  same(gateway, server);
  return gateway;
}

async function serve(host: Host, sockets = SOCKETS, door: Door = host): Promise<Served> {
  const first = await Walker.connect(door);
  const walkers = [first];
  while (walkers.length < sockets) walkers.push(await Walker.connect(door));
  return { host, walkers, pages: await first.learn() };
}

function same(a: Served, b: Served): void {
  if (!isDeepStrictEqual(toolsOf(a), toolsOf(b))) throw new Error('the lists differ');
}

function toolsOf({ pages }: Served): unknown[] {
  return pages.flatMap(({ frame }) => resultOf(frame).tools);
}

/** Microseconds of CPU per walk; the sockets take turns, `atOnce` in a slice. */
function cost({ host, walkers, pages }: Served, atOnce: number): Side {
  const waiting = [...walkers];
  return async () => {
    const turn = waiting.splice(0, atOnce);
    waiting.push(...turn);
    const before = await host.report('cpu');
    await Promise.all(turn.map((walker) => walker.walk(pages)));
    const after = await host.report('cpu');
    return (after.cpu - before.cpu) / turn.length;
  };
}
