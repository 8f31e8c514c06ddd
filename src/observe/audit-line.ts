import type { AuditEvent, AuthEvent, CallEvent, ChangeEvent, PolicyEvent } from '../ports/sink.ts';

/** UTF-16 units of one text that comes from a caller; a longer one is cut and ends in `…`. */
const MAX_TEXT = 2048;
const MAX_KEYS = 64;

/** One event as a line of JSON with its line feed; `keys` says whether the names of arguments are part of it. */
export function auditLine(event: AuditEvent, keys: boolean): string {
  return `{"time":"${isoTime(event.time)}","event":"${event.event}"${membersOf(event, keys)}}\n`;
}

function membersOf(event: AuditEvent, keys: boolean): string {
  if (event.event === 'call') return callMembers(event, keys);
  if (event.event === 'auth') return authMembers(event);
  return event.event === 'policy' ? policyMembers(event) : changeMembers(event);
}

function changeMembers(event: ChangeEvent): string {
  const line = `,"request":${quoted(event.request)},"address":${quoted(event.address)},"decision":"${event.decision}"`;
  if (event.decision === 'deny') return `${line},"reason":${text(event.reason)}`;
  return `${line},"kind":"${event.kind}"${targetMembers(event)},"published":${event.published}`;
}

function policyMembers(event: PolicyEvent): string {
  let line = `${requestMembers(event)},"reason":"${event.reason}"`;
  if (event.reason === 'grants_changed') return line;
  line += targetMembers(event);
  return `${line},"rule":${text(event.rule)},"effect":"${event.effect}"`;
}

function authMembers(event: AuthEvent): string {
  const session = event.decision === 'allow' ? event.session : undefined;
  let line = session === undefined ? '' : `,"session":${text(session)}`;
  line += `,"request":${quoted(event.request)}`;
  if (event.issuer !== undefined) line += `,"issuer":${text(event.issuer)}`;
  if (event.id !== undefined) line += `,"id":${text(event.id)}`;
  line += `,"address":${quoted(event.address)},"via":"${event.via}","decision":"${event.decision}"`;
  return event.decision === 'allow' ? line : `${line},"reason":${text(event.reason)}`;
}

function callMembers(event: CallEvent, keys: boolean): string {
  let line = `${requestMembers(event)}${targetMembers(event)}`;
  line += `,"decision":"${event.decision}","rule":${text(event.rule)}`;
  if (event.outcome !== undefined) line += `,"outcome":${text(event.outcome)}`;
  if (event.durationMs !== undefined) line += `,"durationMs":${milliseconds(event.durationMs)}`;
  return keys && event.argumentKeys !== undefined ? `${line},"argumentKeys":${keyList(event.argumentKeys)}` : line;
}

function requestMembers({ session, request, issuer, id, method }: CallEvent | PolicyEvent): string {
  const whose = `,"session":${text(session)},"request":${quoted(request)},"issuer":${text(issuer)},"id":${text(id)}`;
  return `${whose},"method":${text(method)}`;
}

function targetMembers({ upstream, target }: { readonly upstream?: string; readonly target?: string }): string {
  const owner = upstream === undefined ? '' : `,"upstream":${text(upstream)}`;
  return target === undefined ? owner : `${owner},"target":${text(target)}`;
}

/** Nothing that JSON escapes: such a text needs only its quotes, which is what makes a line cheap. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** Sessions, names and words come again and again; what is kept of them is bounded by starting anew. */
const MAX_KNOWN = 4096;
const MAX_KNOWN_LENGTH = 128;
const known = new Map<string, string>();

function text(value: string): string {
  if (value.length > MAX_KNOWN_LENGTH) return quoted(value);
  const before = known.get(value);
  if (before !== undefined) return before;
  if (known.size >= MAX_KNOWN) known.clear();
  const made = quoted(value);
  known.set(value, made);
  return made;
}

function quoted(value: string): string {
  const cut = value.length > MAX_TEXT ? `${value.slice(0, MAX_TEXT)}…` : value;
  return PLAIN.test(cut) ? `"${cut}"` : JSON.stringify(cut);
}

function keyList(keys: readonly string[]): string {
  const listed = keys.length > MAX_KEYS ? [...keys.slice(0, MAX_KEYS), '…'] : keys;
  return `[${listed.map(text).join(',')}]`;
}

/** To the microsecond: what is finer is the clock's noise. */
function milliseconds(value: number): number {
  return Number.isFinite(value) ? Math.round(value * 1000) / 1000 : 0;
}

/** The last instant a Date can hold; beyond it, and for NaN, the line says 1970. */
const LATEST = 8.64e15;
let second = Number.NaN;
let secondText = '';

/** ISO 8601 with milliseconds; the part down to the second is the same for a thousand milliseconds and kept. */
function isoTime(epochMs: number): string {
  if (!(Math.abs(epochMs) <= LATEST)) return isoTime(0);
  const now = Math.floor(epochMs / 1000);
  if (now !== second) {
    second = now;
    secondText = new Date(now * 1000).toISOString().slice(0, -4);
  }
  const ms = Math.floor(epochMs - now * 1000);
  return `${secondText}${ms < 10 ? '00' : ms < 100 ? '0' : ''}${ms}Z`;
}
