import type { WireError } from './errors.ts';
import { type InputRequest, type InputRequests, MAX_QUESTIONS } from './input-required.ts';

/** A call has to be made again once pages were visited (MCP 2025-11-25, URLElicitationRequiredError). */
export const URL_ELICITATION_REQUIRED = -32042;

/** The pages an error of that code names, as questions of the modern era; undefined where it names none, or too many. */
export function urlElicitations({ data }: WireError): InputRequests | undefined {
  const elicitations = isObject(data) && Array.isArray(data.elicitations) ? data.elicitations : [];
  if (elicitations.length === 0 || elicitations.length > MAX_QUESTIONS) return undefined;
  const asked = new Map<string, InputRequest>();
  for (const elicitation of elicitations) {
    if (!isObject(elicitation) || elicitation.mode !== 'url') return undefined;
    const { elicitationId: _elicitationId, ...params } = elicitation;
    asked.set(`g${asked.size + 1}`, { method: 'elicitation/create', params: JSON.stringify(params) });
  }
  return asked;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
