import type { ListKind } from '../ports/meter.ts';
import type { ServerCapabilities } from '../protocol/capabilities.ts';
import { type Carried, carriedExtensions, unitedExtensions } from '../protocol/extensions.ts';
import { capabilitiesOf, isObject, type Member } from './snapshot.ts';

/**
 * What these upstreams can do together. One not seen yet counts as having tools, resources and prompts. The gateway
 * tells of list changes itself, also for upstreams that do not. Logging takes a link per session: on a shared one
 * nobody's level could be set. What they announce beyond the revision's own is passed on, the first in the configuration
 * deciding where two use one name.
 */
export function unite(members: readonly Member[]): ServerCapabilities {
  const any = (test: (capabilities: Readonly<Record<string, unknown>>, member: Member) => boolean) =>
    members.some((member) => {
      const capabilities = capabilitiesOf(member.part);
      return capabilities !== undefined && test(capabilities, member);
    });
  const has = (kind: ListKind) =>
    members.some(({ part }) => part.state === 'unseen') || any((capabilities) => isObject(capabilities[kind]));
  const subscribe = any(({ resources }) => isObject(resources) && resources.subscribe === true);
  return {
    ...(has('tools') && { tools: { listChanged: true } }),
    ...(has('resources') && { resources: { listChanged: true, ...(subscribe && { subscribe }) } }),
    ...(has('prompts') && { prompts: { listChanged: true } }),
    ...(any(({ completions }) => isObject(completions)) && { completions: {} }),
    ...(any(({ logging }, { isolation }) => isolation === 'session' && isObject(logging)) && { logging: {} }),
    ...unitedExtensions(members.map(({ part }) => extensionsOf(capabilitiesOf(part)).carried)),
  };
}

const NOTHING: Carried = { carried: {}, dropped: 0 };
const read = new WeakMap<object, Carried>();

/** What of an upstream's own capabilities is passed on; looked at once for each answer it gave. */
export function extensionsOf(capabilities: Readonly<Record<string, unknown>> | undefined): Carried {
  if (capabilities === undefined) return NOTHING;
  const known = read.get(capabilities) ?? carriedExtensions(capabilities);
  read.set(capabilities, known);
  return known;
}
