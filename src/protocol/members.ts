import { JsonText } from './json-text.ts';

/** Texts of JSON objects with members taken out or put in; all other text stays as it is. `object` is valid JSON. */

export function hasMember(object: string, key: string): boolean {
  return membersOf(object).some((member) => member.key === key);
}

/** Every member of that key, however it is spelled. */
export function withoutMember(object: string, key: string): string {
  const members = membersOf(object);
  if (!members.some((member) => member.key === key)) return object;
  const kept = members.filter((member) => member.key !== key);
  return `{${kept.map((member) => `${JSON.stringify(member.key)}:${object.slice(member.start, member.end)}`).join(',')}}`;
}

/** `value` is JSON text; the object must not have the member. */
export function withMember(object: string, key: string, value: string): string {
  const start = object.indexOf('{') + 1;
  const comma = membersOf(object).length === 0 ? '' : ',';
  return `{${JSON.stringify(key)}:${value}${comma}${object.slice(start)}`;
}

function membersOf(object: string) {
  const json = new JsonText(object);
  return json.object(json.skipSpace(0)).members;
}
