import { SMALL } from './calls.ts';
import { connect, startGateway, USUAL } from './gateways.ts';
import type { Row } from './row.ts';

const SESSIONS = 1000;

/** Kilobytes that a session holds which has been opened and says nothing. */
export async function idleSession(): Promise<Row> {
  const gateway = await startGateway(USUAL);
  const first = await connect(gateway);
  await first.run({ ...SMALL, calls: 1000 });
  const before = await gateway.report('memory');
  for (let opened = 0; opened < SESSIONS; opened += 1) await connect(gateway);
  const after = await gateway.report('memory');
  await gateway.stop();
  const value = (after.memory - before.memory) / SESSIONS / 1000;
  return { value, limit: 40, detail: `${SESSIONS} sessions, after garbage collection` };
}
