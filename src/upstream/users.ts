import type { LinkUser } from '../ports/link.ts';

/** The sessions that have used an upstream. One that was released uses none any more, whatever it still waited for then. */
export class Users {
  private readonly present = new Map<string, LinkUser>();
  private readonly released = new WeakSet<LinkUser>();

  /** Asked before anything is opened or kept for this session; false where it was released. */
  admits(user: LinkUser): boolean {
    if (this.released.has(user)) return false;
    this.present.set(user.session, user);
    return true;
  }

  release(session: string): void {
    const user = this.present.get(session);
    if (user !== undefined) this.released.add(user);
    this.present.delete(session);
  }
}
