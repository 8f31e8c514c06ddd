import { describe } from 'vitest';
import { loopbackPair } from '../../src/transport/loopback.ts';
import { type ChannelUnderTest, channelKit } from '../kits/transport-kit.ts';
import { puppetChannel, queue } from '../support/stdio/puppet.ts';

describe('loopback channel', () => {
  channelKit(loopbackChannel);
});

describe('stdio channel', () => {
  channelKit(puppetChannel);
});

async function loopbackChannel(greeting: readonly string[]): Promise<ChannelUnderTest> {
  const [dial, dialPeer] = loopbackPair();
  const inbox = queue<string>();
  const far = await dialPeer({ message: inbox.put, failed() {}, closed() {} }, new AbortController().signal);
  for (const message of greeting) far.send(message);
  return {
    dial,
    async peer() {
      return {
        async send(...messages) {
          for (const message of messages) far.send(message);
        },
        next: inbox.take,
        end: () => far.close(),
      };
    },
    dispose: () => far.close(),
  };
}
