import type { Identity } from '../auth/principal.ts';
import type { Conditions } from './rule.ts';

/** Whether roles, scopes and claims of a rule hold for a caller. `when` is not looked at. */
export function holdsFor(conditions: Conditions, caller: Identity): boolean {
  const { roles, scopes = [], claims = {} } = conditions;
  if (roles !== undefined && !roles.some((role) => caller.roles.includes(role))) return false;
  if (!scopes.every((scope) => caller.scopes.includes(scope))) return false;
  return Object.entries(claims).every(([name, wanted]) => claimHolds(caller.claims, name, wanted));
}

function claimHolds(claims: Identity['claims'], name: string, wanted: unknown): boolean {
  if (!Object.hasOwn(claims, name)) return false;
  const held = claims[name];
  const values: readonly unknown[] = Array.isArray(held) ? held : [held];
  const options: readonly unknown[] = Array.isArray(wanted) ? wanted : [wanted];
  return options.some((option) => values.some((value) => equal(value, option)));
}

/** Equality of JSON values; what the configuration can hold is small, so recursion is bounded by it. */
function equal(held: unknown, wanted: unknown): boolean {
  if (held === wanted) return true;
  if (typeof held !== 'object' || typeof wanted !== 'object' || held === null || wanted === null) return false;
  if (Array.isArray(held) !== Array.isArray(wanted)) return false;
  const fields = new Map(Object.entries(held));
  const expected = Object.entries(wanted);
  return (
    fields.size === expected.length &&
    expected.every(([name, value]) => fields.has(name) && equal(fields.get(name), value))
  );
}
