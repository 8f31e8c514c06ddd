import type { Id } from './envelope.ts';
import type { WireError } from './errors.ts';

/** Messages the gateway itself makes, as text. `params` and `result` are JSON texts. */

export function requestText(id: number, method: string, params?: string): string {
  return `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)}${params === undefined ? '' : `,"params":${params}`}}`;
}

export function notificationText(method: string, params?: string): string {
  return `{"jsonrpc":"2.0","method":${JSON.stringify(method)}${params === undefined ? '' : `,"params":${params}`}}`;
}

export function resultText(id: Id, result: string): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;
}

/** `id` is null where the request's own could not be read or must not be used (JSON-RPC 2.0 section 5). */
export function errorText(id: Id | null, error: WireError): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"error":${JSON.stringify(error)}}`;
}
