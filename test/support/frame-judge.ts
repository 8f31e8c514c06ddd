import type { FrameSchema } from './frame-schema.ts';

export type Message = Readonly<Record<string, unknown>>;

/** Methods whose answers and notifications the gateway writes itself; all others hold the words of an upstream. */
const OWN =
  /^(initialize|ping|logging\/setLevel|resources\/(un)?subscribe|server\/discover|subscriptions\/listen)$|list_changed$|acknowledged$|cancelled$/;

/** Whether what is sent under this method is the gateway’s own, and no words of an upstream. */
export function isOwn(method: string): boolean {
  return OWN.test(method);
}

export function isMessage(value: unknown): value is Message {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Why this is no request a server of the revision may send. */
export function requestFault(schema: FrameSchema, message: Message, asWritten: boolean): string | undefined {
  const name = schema.serverRequests.get(String(message.method));
  if (name === undefined) return `a server of ${schema.revision} does not ask ${String(message.method)}`;
  return schema.faultOf('JSONRPCRequest', message) ?? (asWritten ? undefined : schema.faultOf(name, message));
}

/** Why this is no notification of the revision. Methods the revision does not know are their owners’ affair. */
export function notificationFault(schema: FrameSchema, message: Message, asWritten: boolean): string | undefined {
  const name = schema.serverNotifications.get(String(message.method));
  const shape = schema.faultOf('JSONRPCNotification', message);
  return shape ?? (name === undefined || asWritten ? undefined : schema.faultOf(name, message));
}

/** Why this is no successful answer to a request with this method. */
export function resultFault(
  schema: FrameSchema,
  method: string,
  message: Message,
  asWritten: boolean,
): string | undefined {
  const { result } = message;
  const envelope = schema.has('JSONRPCResultResponse') ? 'JSONRPCResultResponse' : 'JSONRPCResponse';
  const shape = schema.faultOf(envelope, message);
  if (shape !== undefined || asWritten) return shape;
  const name = schema.results.get(method) ?? 'Result';
  if (isMessage(result) && result.resultType === 'input_required' && schema.revision === '2026-07-28') {
    return schema.mayNeedInput(name)
      ? schema.faultOf('InputRequiredResult', result)
      : `${method} is never answered input_required`;
  }
  return schema.faultOf(name, result) ?? emptyFault(name, result);
}

/** The schemas let an empty result have any member; the gateway writes none but `_meta`. */
function emptyFault(name: string, result: unknown): string | undefined {
  if (name !== 'EmptyResult' || !isMessage(result)) return undefined;
  const members = Object.keys(result).filter((member) => member !== '_meta');
  return members.length === 0 ? undefined : `no EmptyResult: it has ${members.join(', ')}`;
}

/** Codes that have a definition of their own where the revision has it. */
const NAMED_ERRORS = new Map([
  [-32020, 'HeaderMismatchError'],
  [-32021, 'MissingRequiredClientCapabilityError'],
  [-32022, 'UnsupportedProtocolVersionError'],
  [-32042, 'URLElicitationRequiredError'],
]);

/** Codes of the other era: the gateway translates them, and none of them leaves it. */
const OTHER_ERA = { modern: new Set<unknown>([-32002, -32042]), handshake: new Set<unknown>([-32020, -32021, -32022]) };

/** Why this is no error answer of the revision. An id null is exempt, as JSON-RPC 2.0 asks for it and the schemas have none. */
export function errorFault(schema: FrameSchema, message: Message): string | undefined {
  const judged = message.id === null ? { ...message, id: 'exempt' } : message;
  const shape = schema.faultOf(schema.has('JSONRPCError') ? 'JSONRPCError' : 'JSONRPCErrorResponse', judged);
  if (shape !== undefined || !isMessage(message.error)) return shape;
  const { code } = message.error;
  const foreign = OTHER_ERA[schema.revision === '2026-07-28' ? 'modern' : 'handshake'];
  if (foreign.has(code)) return `${String(code)} is no code of ${schema.revision}`;
  const name = NAMED_ERRORS.get(Number(code));
  return name !== undefined && schema.has(name) ? schema.faultOf(name, judged) : undefined;
}
