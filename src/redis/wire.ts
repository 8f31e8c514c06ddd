import { ErrorReply } from '@redis/client';
import { limitReplies } from './reply-limit.ts';

limitReplies();

/** What a server answers, as RESP2 has it. */
export type Reply = string | number | null | readonly Reply[];

/** One live connection of the library: used until it is lost, and never again. */
export interface Wire {
  /** Rejects with what `isAnswer` knows where the server answered with an error. May never settle where the server is silent. */
  send(key: string, args: readonly string[]): Promise<Reply>;
  /** Calls once, when the connection ends by anything but `destroy`. */
  onLost(listener: (reason: Error) => void): void;
  /** Idempotent; what waits for an answer rejects. */
  destroy(): void;
}

/** Whether the server said no, and the connection is as good as before. */
export function isAnswer(error: unknown): boolean {
  return error instanceof ErrorReply;
}

/** Milliseconds a TCP or TLS handshake may take. */
const CONNECT_MS = 2000;
/** Milliseconds without a byte either way after which a socket is given up: a second net below the deadlines of commands. */
const SILENT_MS = 15_000;
/** Milliseconds a connection may take until it can be used, its authentication included. */
export const OPEN_MS = 4000;

export interface SocketChoice {
  readonly tls: boolean;
  /** PEM of the authorities to trust; absent: those of the runtime. */
  readonly ca?: string | undefined;
}

/** The library reconnects by itself in ways that can end silently: it is told never to, and a lost connection is replaced whole. */
export function socketOptions({ tls, ca }: SocketChoice) {
  const plain = { connectTimeout: CONNECT_MS, socketTimeout: SILENT_MS, reconnectStrategy: false } as const;
  if (!tls) return plain;
  return { ...plain, tls: true, ...(ca === undefined ? {} : { ca }) } as const;
}

/** What clients of every kind are made with. `CLIENT SETINFO` and the like need rights beside those of the gateway's own commands. */
export const CLIENT = {
  RESP: 2,
  disableOfflineQueue: true,
  disableClientInfo: true,
  maintNotifications: 'disabled',
  /** Far more than are ever let in at once. */
  commandsQueueMaxLength: 10_000,
} as const;

/** Settles as `task` does, or rejects after `ms`; then, and when `task` fails, `giveUp` is called. */
export async function within<T>(ms: number, task: Promise<T>, giveUp: () => void): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`No answer within ${ms} ms`)), ms).unref();
  });
  try {
    return await Promise.race([task, late]);
  } catch (error) {
    giveUp();
    // A library's client destroyed while it connects may connect all the same.
    task.then(giveUp, () => {});
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
