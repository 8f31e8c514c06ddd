import type { ListKind } from '../ports/meter.ts';
import type { ServerCapabilities } from '../protocol/capabilities.ts';
import { capabilitiesOf, isObject, type Member } from './snapshot.ts';

/**
 * What these upstreams can do together. One not seen yet counts as having tools, resources and prompts. The gateway
 * tells of list changes itself, also for upstreams that do not. Logging takes a link per session: on a shared one
 * nobody's level could be set.
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
  };
}
