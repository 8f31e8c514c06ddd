import { expect, test } from 'vitest';
import { CLIENT_ERAS, openEra } from '../../support/era-client.ts';
import { recordFile } from '../../support/file-gateway.ts';
import { startGateway, stdioUpstream } from '../../support/gateway.ts';
import { cancellation } from '../../support/messages.ts';
import { statelessTools, statelessUpstream } from '../../support/stateless-upstream.ts';

const owner = recordFile();
const other = recordFile();
const of = (lines: readonly string[], event: string) => lines.filter((line) => line.startsWith(event));

test("a cancelled call is cancelled at its upstream under that upstream's id", async () => {
  const modern = await statelessUpstream({ ...statelessTools('wait'), 'tools/call': () => {} });
  const { url, ready } = await startGateway({
    mcpServers: {
      'up-0': stdioUpstream('plain.mjs', [owner.path], { isolation: 'shared' }),
      'up-1': stdioUpstream('plain.mjs', [other.path], { isolation: 'shared' }),
      modern: modern.entry,
    },
  });
  await ready();
  const calls = () => modern.asked.filter(({ method }) => method === 'tools/call');
  for (const [at, era] of CLIENT_ERAS.entries()) {
    const client = await openEra(era, url);
    client.raw.send(client.request(101, 'tools/call', { name: 'up-0__wait' }));
    await expect.poll(() => of(owner.lines(), 'waiting')).toHaveLength(at + 1);
    const waiting = of(owner.lines(), 'waiting')[at] ?? '';
    expect(waiting).not.toBe('waiting 101');
    client.raw.send(cancellation(101, 'enough'));
    await expect
      .poll(() => of(owner.lines(), 'cancelled')[at])
      .toBe(`${waiting.replace('waiting', 'cancelled')} enough`);
    const next = { name: 'up-1__echo', arguments: { text: 'next' } };
    expect(await client.ask(102, 'tools/call', next)).toEqual(
      client.result(102, { content: [{ type: 'text', text: 'next' }] }),
    );
    expect(of(other.lines(), 'cancelled')).toEqual([]);

    // Over HTTP a modern upstream is told by the end of the request.
    client.raw.send(client.request(101, 'tools/call', { name: 'modern__wait' }));
    await expect.poll(calls).toHaveLength(at + 1);
    client.raw.send(cancellation(101));
    await expect.poll(() => calls()[at]?.exchange.response.destroyed).toBe(true);
    expect(await client.pending()).toEqual([]);
  }
});
