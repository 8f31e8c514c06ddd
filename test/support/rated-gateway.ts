import { fakeClock } from './fake-clock.ts';
import { startGateway } from './gateway.ts';
import { errorAnswer } from './messages.ts';
import { parseMetrics, sampleValue } from './prometheus-text.ts';
import { type Asked, offering, scriptedUpstream } from './scripted-upstream.ts';

type Fields = Readonly<Record<string, unknown>>;

export const ping = (id: string | number) => ({ jsonrpc: '2.0', id, method: 'ping' });
export const pong = (id: string | number) => ({ jsonrpc: '2.0', id, result: {} });
/** The answer to a request over the rate. */
export const limited = (id: string | number, retryAfterMs: number) =>
  errorAnswer(id, -32603, 'Too many requests', { reason: 'rate_limited', retryable: true, retryAfterMs });

/**
 * A gateway with these limits and a clock that stands still, before one upstream: its tool `act` answers, `ask` asks the
 * client for its roots, `wait` keeps silent until `answerHeld`.
 */
export async function ratedGateway(limits: Fields, more: Fields = {}) {
  const clock = fakeClock();
  const held: (() => void)[] = [];
  const upstream = await scriptedUpstream(
    {
      ...offering('act', 'ask', 'wait'),
      'tools/call': ({ params, link, result }: Asked) => {
        if (params.name === 'act') result({ content: [] });
        if (params.name === 'wait') held.push(() => result({ content: [] }));
        if (params.name === 'ask') link.send({ jsonrpc: '2.0', id: 'asked', method: 'roots/list' });
      },
    },
    { methods: ['acme/*'] },
  );
  const config = { limits: { pingInterval: '60m', ...limits }, mcpServers: { up: upstream.entry }, ...more };
  const gateway = await startGateway(config, clock);
  await gateway.ready();
  return {
    clock,
    gateway,
    answerHeld: () => held.splice(0).forEach((answer) => void answer()),
    /** What the upstream has been sent: the method, or the id of an answer. */
    heard: () => upstream.links.flatMap((link) => link.heard).map(({ method, id }) => method ?? id),
    metric: async (name: string, labels: Readonly<Record<string, string>> = {}) =>
      sampleValue(parseMetrics(await gateway.metrics()), `mcp_gateway_${name}`, { ...labels }),
  };
}
