import { notificationText } from './compose.ts';

/** Extensions whose names begin so are the gateway's own: what peers say under them is not passed on. */
export const OWN_EXTENSIONS = 'ws-gateway/';
/** The extension by which a client hears that its token ends soon and brings a fresh one on the open socket. */
export const TOKEN_EXTENSION = 'ws-gateway/token';
export const REFRESH_TOKEN = 'ws-gateway/refreshToken';
const TOKEN_EXPIRING = 'ws-gateway/tokenExpiring';

/** Whether a client's capabilities, a value that JSON.parse made, declare the extension, in whichever member its revision has for that. */
export function declaresToken(capabilities: unknown): boolean {
  const members = isObject(capabilities) ? [capabilities.extensions, capabilities.experimental] : [];
  return members.some((member) => isObject(member) && isObject(member[TOKEN_EXTENSION]));
}

/** Whether the JSON text of capabilities may declare it, for one who is asked often: false is sure, whatever is escaped is to be read. */
export function mayNameToken(text: string): boolean {
  return text.includes(TOKEN_EXTENSION) || text.includes('\\');
}

/** `expiresAt` is a date as ISO 8601 has it, in UTC. */
export function tokenExpiring(expiresAt: string, expiresInMs: number): string {
  return notificationText(TOKEN_EXPIRING, JSON.stringify({ expiresAt, expiresInMs }));
}

/** JSON text of the result of a refresh. */
export function refreshed(expiresAt: string | null): string {
  return JSON.stringify({ expiresAt });
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
