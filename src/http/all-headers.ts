import type { Server } from 'node:http';

/**
 * Node leaves out what stands behind the 1,000th header, unless told to take all: what it leaves out is not judged. Their
 * size has a limit of its own.
 */
export function takeAllHeaders(server: Server): void {
  server.maxHeadersCount = 0;
}
