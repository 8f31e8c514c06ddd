import { expect, test } from 'vitest';
import { FAR_LIMITS, openHttp, watchedClock } from '../support/heard-channel.ts';
import { callText, endEvents, openHttpUpstream, politely } from '../support/http-upstream.ts';

test('a call that waits to resume its stream waits no more once the channel is closed', async () => {
  const upstream = await openHttpUpstream(politely(({ response }) => endEvents(response, 'id: 1\ndata:\n\n')));
  const clock = watchedClock();
  const heard = await openHttp(upstream.url, { timing: FAR_LIMITS }, clock);
  heard.channel.send(callText(2), 2);
  const waits = () => clock.waits().filter((ms) => ms < 1e9);
  await expect.poll(waits).toHaveLength(1);
  await heard.channel.close();
  expect(waits()).toEqual([]);
  await upstream.close();
});
