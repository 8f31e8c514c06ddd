import type { Era } from '../src/protocol/era.ts';
import { CHILD, connect, type GatewayShape, startGateway, USUAL } from './gateways.ts';
import { type Host, startHost } from './host.ts';
import { type Call, Load } from './load.ts';
import { PREFIX } from './names.ts';
import type { Side } from './pairs.ts';
import { type Row, ratio } from './row.ts';

const TOOL = 'echo3';
export const SMALL: Call = { tool: `${PREFIX}${TOOL}`, data: 'x'.repeat(64), calls: 2500, inFlight: 16 };
export const LARGE: Call = { tool: `${PREFIX}${TOOL}`, data: 'x'.repeat(100_000), calls: 60, inFlight: 16 };

/** The gateway's call against the same by a relay written by hand. */
export async function relayed(call: Call): Promise<Row> {
  const gateway = await startGateway(USUAL);
  const hand = await startHost('hand-relay', [CHILD, ...USUAL.child]);
  const through = cost(gateway, await connect(gateway), call);
  const floor = cost(hand, await Load.connect(hand), { ...call, tool: TOOL });
  const row = await ratio(1.5, 'call', through, floor);
  await Promise.all([gateway.stop(), hand.stop()]);
  return row;
}

/** A call through a gateway that has more of something against one that has less. */
export async function shapes(more: GatewayShape, less: GatewayShape, idle = 0): Promise<Row> {
  const [large, small] = [await startGateway(more), await startGateway(less)];
  for (let opened = 0; opened < idle; opened += 1) await connect(large);
  const row = await ratio(
    1.15,
    'call',
    cost(large, await connect(large), SMALL),
    cost(small, await connect(small), SMALL),
  );
  await Promise.all([large.stop(), small.stop()]);
  return row;
}

/** A modern client's call, whatever its upstream, against a handshake client's to a handshake upstream. */
export async function modern(upstream: Era): Promise<Row> {
  const [envelopes, plain] = [await startGateway({ ...USUAL, child: ['10', upstream] }), await startGateway(USUAL)];
  const row = await ratio(
    1.3,
    'call',
    cost(envelopes, await connect(envelopes, 'modern'), SMALL),
    cost(plain, await connect(plain), SMALL),
  );
  await Promise.all([envelopes.stop(), plain.stop()]);
  return row;
}

function cost(host: Host, load: Load, call: Call): Side {
  return async () => {
    const before = await host.report('cpu');
    await load.run(call);
    const after = await host.report('cpu');
    return (after.cpu - before.cpu) / call.calls;
  };
}
