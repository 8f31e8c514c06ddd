import type { Link } from '../ports/link.ts';

/** Subscribes a fresh link to each resource: one after the other, or all at once where they are one listen in any case. */
export async function restoreEach(
  { peer }: Pick<Link, 'peer'>,
  uris: readonly string[],
  restore: (uri: string) => Promise<void>,
): Promise<void> {
  if (peer.era === 'modern') await Promise.all(uris.map(restore));
  else for (const uri of uris) await restore(uri);
}
