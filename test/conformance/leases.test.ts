import { leasesKit } from '../kits/leases-kit.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { LeaseBook } from '../support/memory-leases.ts';

leasesKit('memory', {
  open: async (terms) => {
    const clock = fakeClock();
    const book = new LeaseBook(clock, terms);
    return { replica: async () => book.replica(), pass: async (ms) => clock.advance(ms) };
  },
});
