import type { Link } from '../ports/link.ts';
import { Fault } from '../protocol/errors.ts';

/** Where links come from, and the one that is in use now. */
export interface LinkSource {
  acquire(): Link | Promise<Link>;
  current(): Link | Promise<Link> | undefined;
}

/** For what may safely be asked twice: asked once more, on the link that follows, where the first was lost meanwhile. */
export async function askOnceMore(source: LinkSource, ask: (link: Link) => Promise<void>): Promise<void> {
  const link = await source.acquire();
  try {
    return await ask(link);
  } catch (cause) {
    if (!(cause instanceof Fault) || source.current() === link) throw cause;
    return ask(await source.acquire());
  }
}
