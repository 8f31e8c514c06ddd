import { systemClock } from '../../src/observe/clock.ts';
import { dialStreamableHttp, type StreamableHttpOptions } from '../../src/upstream/streamable-http.ts';
import { type HeardUpstream, hear } from './heard-channel.ts';
import { recordedLog } from './recorded.ts';

/** Dials `url` for the modern era with our client transport; nothing is sent yet. */
export async function hearModern(url: string, options: Partial<StreamableHttpOptions> = {}): Promise<HeardUpstream> {
  const log = recordedLog();
  const deps = { log, clock: systemClock(), upstream: 'up' };
  const dial = dialStreamableHttp({ url, headers: {}, maxMessage: 1_000_000, ...options }, deps);
  const heard = await hear((receiver, signal) => dial(receiver, signal, 'modern'));
  return { ...heard, lines: log.lines };
}
