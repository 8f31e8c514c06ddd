import type { Channel } from '../ports/transport.ts';

/** The channel, unless `signal` aborts first: then rejects at once with its reason, and closes a channel that comes later. */
export function unlessAborted(dialling: Promise<Channel>, signal: AbortSignal): Promise<Channel> {
  return new Promise((resolve, reject) => {
    const aborted = () => {
      reject(signal.reason);
      dialling.then(
        (late) => late.close(),
        () => {},
      );
    };
    signal.addEventListener('abort', aborted, { once: true });
    dialling.then(resolve, reject).finally(() => signal.removeEventListener('abort', aborted));
  });
}
