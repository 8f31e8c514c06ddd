import { afterEach, describe, expect, it } from 'vitest';
import type { Channel, Dial } from '../../src/ports/transport.ts';
import { recordingReceiver } from '../support/stdio/recorders.ts';

/** The other end of a channel under test, moved by hand. Messages are valid JSON, one object each. */
export interface Peer {
  /** Resolves when the peer has written them, in one go where it can. */
  send(...messages: string[]): Promise<void>;
  /** The next message the peer received, in order. */
  next(): Promise<string>;
  /** Ends the channel from the peer's side, after what it has sent. */
  end(): Promise<void>;
}

export interface ChannelUnderTest {
  readonly dial: Dial;
  /** Resolves when the peer can be moved; for some transports only after `dial` was called. */
  peer(): Promise<Peer>;
  /** Releases everything, whatever state the channel is in. */
  dispose(): Promise<void>;
}

/** `greeting`: messages the peer sends at the first moment it can, before it is asked to. */
export type MakeChannel = (greeting: readonly string[]) => ChannelUnderTest | Promise<ChannelUnderTest>;

const never = new AbortController().signal;

/** What every channel owes its owner (src/ports/transport.ts). Call it inside a `describe` that names the transport. */
export function channelKit(make: MakeChannel): void {
  let made: ChannelUnderTest | undefined;
  afterEach(() => made?.dispose());

  async function open(onMessage?: (channel: Channel, text: string) => void) {
    made = await make([]);
    const receiver = recordingReceiver((text) => onMessage?.(channel, text));
    const channel: Channel = await made.dial(receiver, never);
    return { channel, receiver, peer: await made.peer() };
  }

  describe('messages', () => {
    it('delivers what the peer sent before the owner did anything', async () => {
      const greeting = [note(1), note(2)];
      made = await make(greeting);
      const receiver = recordingReceiver();
      await made.dial(receiver, never);
      expect([await receiver.next(), await receiver.next()]).toEqual(greeting);
    });

    it('keeps the order in both directions', async () => {
      const { channel, receiver, peer } = await open();
      const sent = Array.from({ length: 500 }, (_, n) => note(n));
      for (const message of sent) expect(channel.send(message)).toBe(true);
      const arrived: string[] = [];
      for (const _ of sent) arrived.push(await peer.next());
      expect(arrived).toEqual(sent);
      await peer.send(...sent);
      for (const message of sent) expect(await receiver.next()).toBe(message);
    });

    it('carries 3 MB whole', async () => {
      const { channel, receiver, peer } = await open();
      const large = JSON.stringify({ jsonrpc: '2.0', method: 'large', params: { text: 'ä'.repeat(1_500_000) } });
      channel.send(large);
      expect((await peer.next()) === large).toBe(true);
      await peer.send(large);
      expect((await receiver.next()) === large).toBe(true);
    });

    it('carries every kind of character', async () => {
      const { channel, receiver, peer } = await open();
      const text = 'tab\t nul\u0000 nel\u0085 ls\u2028 ps\u2029 😀 \ud800 é';
      const message = JSON.stringify({ jsonrpc: '2.0', method: 'text', params: { text } });
      channel.send(message);
      expect(JSON.parse(await peer.next())).toEqual({ jsonrpc: '2.0', method: 'text', params: { text } });
      await peer.send(message);
      expect(JSON.parse(await receiver.next())).toEqual({ jsonrpc: '2.0', method: 'text', params: { text } });
    });

    it('delivers a message with line breaks between its tokens as one message', async () => {
      const { channel, peer } = await open();
      channel.send('{"jsonrpc":"2.0",\r\n"method":"a",\n\r"params":{}}');
      channel.send(note(1));
      expect(JSON.parse(await peer.next())).toEqual({ jsonrpc: '2.0', method: 'a', params: {} });
      expect(await peer.next()).toBe(note(1));
    });
  });

  describe('pausing', () => {
    it('delivers nothing until resumed, then everything in order', async () => {
      const { channel, receiver, peer } = await open();
      channel.pause();
      await peer.send(note(1), note(2), note(3));
      await roundTrips(channel, peer);
      expect(receiver.messages).toEqual([]);
      channel.resume();
      expect([await receiver.next(), await receiver.next(), await receiver.next()]).toEqual([
        note(1),
        note(2),
        note(3),
      ]);
    });

    it('takes effect before the very next message', async () => {
      const { channel, receiver, peer } = await open((under) => under.pause());
      await peer.send(note(1), note(2), note(3));
      expect(await receiver.next()).toBe(note(1));
      await roundTrips(channel, peer);
      expect(receiver.messages).toEqual([note(1)]);
      channel.resume();
      expect(await receiver.next()).toBe(note(2));
    });
  });

  describe('ending', () => {
    it('tells its owner once, without a cause, when the owner closes', async () => {
      const { channel, receiver } = await open();
      await Promise.all([channel.close(), channel.close()]);
      await channel.close();
      expect(receiver.closings).toEqual([{ cause: undefined }]);
    });

    it('tells its owner once, with a cause, when the peer ends, after what the peer sent', async () => {
      const { channel, receiver, peer } = await open();
      await peer.send(note(1), note(2));
      await peer.end();
      expect((await receiver.whenClosed).cause).toBeInstanceOf(Error);
      expect(receiver.messages).toEqual([note(1), note(2)]);
      await channel.close();
      expect(receiver.closings).toHaveLength(1);
    });

    it('takes nothing more once it has ended', async () => {
      const closed = await open();
      await closed.channel.close();
      expect(closed.channel.send(note(1))).toBe(false);
      await made?.dispose();
      const left = await open();
      await left.peer.end();
      await left.receiver.whenClosed;
      expect(left.channel.send(note(1))).toBe(false);
    });

    it('delivers nothing after the owner closed', async () => {
      const { channel, receiver, peer } = await open();
      await peer.send(...Array.from({ length: 50 }, (_, n) => note(n)));
      const closing = channel.close();
      const before = receiver.messages.length;
      await closing;
      expect(receiver.messages).toHaveLength(before);
    });

    it('delivers nothing after the owner closed inside a delivery', async () => {
      const { channel, receiver, peer } = await open((under) => void under.close());
      await peer.send(note(1), note(2), note(3));
      await receiver.whenClosed;
      await channel.close();
      expect(receiver.messages).toEqual([note(1)]);
    });

    it('closes also while paused', async () => {
      const { channel, receiver, peer } = await open();
      channel.pause();
      await peer.send(note(1));
      await channel.close();
      expect(receiver.messages).toEqual([]);
      expect(receiver.closings).toEqual([{ cause: undefined }]);
    });

    it('opens nothing for an owner that has already given up', async () => {
      made = await make([]);
      const receiver = recordingReceiver();
      await expect(made.dial(receiver, AbortSignal.abort(new Error('given up')))).rejects.toThrow('given up');
      expect(receiver.closings).toEqual([]);
    });
  });
}

function note(n: number): string {
  return JSON.stringify({ jsonrpc: '2.0', method: 'note', params: { n } });
}

/** Long enough for anything under way to arrive: messages to the peer and back to the test, one after another. */
async function roundTrips(channel: Channel, peer: Peer): Promise<void> {
  for (let n = 0; n < 10; n += 1) {
    channel.send(note(n));
    await peer.next();
  }
}
