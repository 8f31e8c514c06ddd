import { test } from 'vitest';
import type { RequirementId } from './requirements.ts';

/**
 * A test that proves obligations of docs/PROTOCOL.md; its title begins with their ids. `coverage.test.ts` reads the ids
 * from the source of test/conformance, so they are written as literals here.
 */
export function verifies(
  ids: RequirementId | readonly RequirementId[],
  title: string,
  run: () => void | Promise<void>,
): void {
  test(`${[ids].flat().join(' ')}: ${title}`, run);
}
