/** How long the channel waits where nobody else does, milliseconds. An answer has no limit here: the caller's deadline ends it. */
export interface HttpTiming {
  /** For a connection, TLS included. */
  readonly connect: number;
  /** For the status of a POST that carries no request. */
  readonly acknowledge: number;
  /** For a stream to end by itself once it has carried its answer. */
  readonly linger: number;
  /** For the other calls to hear of a lost session too, once one has. */
  readonly settle: number;
  /** For the DELETE at the end. */
  readonly farewell: number;
}

export const HTTP_TIMING: HttpTiming = {
  connect: 10_000,
  acknowledge: 30_000,
  linger: 5_000,
  settle: 1_000,
  farewell: 1_500,
};
