import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { expect, onTestFinished } from 'vitest';
import { FrameConversation } from './frame-conversation.ts';

export interface FrameTapOptions {
  /**
   * Why what an upstream of this test writes is not what the schemas say. Such answers, notifications and requests are
   * then held to JSON-RPC alone; what the gateway writes itself is held to its revision all the same.
   */
  readonly odd?: string | undefined;
}

/** Keeps both directions of one connection, and judges when asked: compiling a schema takes time a test may not have. */
export class FrameTap {
  private readonly odd: boolean;
  private readonly heard: { readonly by: 'sent' | 'received'; readonly frame: string }[] = [];

  constructor({ odd }: FrameTapOptions = {}) {
    this.odd = odd !== undefined;
  }

  /** A frame the client sends, as text or parsed. */
  sent(frame: unknown): void {
    this.heard.push({ by: 'sent', frame: textOf(frame) });
  }

  /** A frame the client receives, as text or parsed. */
  received(frame: unknown): void {
    this.heard.push({ by: 'received', frame: textOf(frame) });
  }

  /** What was wrong so far, with the frame it was wrong with. */
  faults(): readonly string[] {
    const conversation = new FrameConversation(this.odd);
    for (const { by, frame } of this.heard) conversation[by](frame);
    return conversation.faults;
  }
}

function textOf(frame: unknown): string {
  return typeof frame === 'string' ? frame : JSON.stringify(frame);
}

/** A tap for this test: a frame that is not what its revision says fails the test when it ends. */
export function tapFrames(options: FrameTapOptions = {}): FrameTap {
  const tap = new FrameTap(options);
  onTestFinished(() => expect(tap.faults(), 'frames that their revision does not allow').toEqual([]));
  return tap;
}

/** The same transport for a client of either SDK, with every frame tapped. */
export function tapped(transport: Transport, options: FrameTapOptions = {}): Transport {
  const tap = tapFrames(options);
  const outer: Transport = {
    async start() {
      transport.onmessage = (message, extra) => {
        tap.received(message);
        outer.onmessage?.(message, extra);
      };
      transport.onclose = () => outer.onclose?.();
      transport.onerror = (error) => outer.onerror?.(error);
      await transport.start();
    },
    send(message, sending) {
      tap.sent(message);
      return transport.send(message, sending);
    },
    close: () => transport.close(),
  };
  return outer;
}
