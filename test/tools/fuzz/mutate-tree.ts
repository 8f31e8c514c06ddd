import type { Random } from '../trial/random.ts';

const ODD: readonly unknown[] = [
  ...[
    null,
    true,
    false,
    0,
    -1,
    1.5,
    1e308,
    2 ** 53,
    -(2 ** 53),
    '',
    ' ',
    '\u0000',
    '\ud800',
    '__proto__',
    'constructor',
  ],
  ...['trial://hidden/one', 'hidden__echo', 'pipe__echo', 'g1', 'x'.repeat(1025), [], {}, [[]], [{}], { '': '' }],
];
const KEYS = [
  ...['jsonrpc', 'id', 'method', 'params', 'result', 'error', '_meta', 'name', 'uri', 'arguments', 'cursor', 'ref'],
  ...['progressToken', 'requestId', 'ID', 'Method', 'toString', '__proto__', 'inputResponses', 'requestState', 'task'],
  ...['io.modelcontextprotocol/protocolVersion', 'io.modelcontextprotocol/clientCapabilities', '', 'acme/x'],
];
const METHODS = [
  ...['initialize', 'ping', 'tools/list', 'tools/call', 'resources/read', 'resources/list', 'prompts/get', 'acme/do'],
  ...['completion/complete', 'subscriptions/listen', 'server/discover', 'logging/setLevel', 'resources/subscribe'],
  ...['notifications/cancelled', 'notifications/initialized', 'notifications/progress', 'elicitation/create', ''],
];

type Place = { readonly of: Record<string, unknown>; readonly key: string };

/** A message changed in its structure: valid JSON, valid JSON-RPC perhaps. */
export function mutateTree(original: Record<string, unknown>, random: Random): unknown {
  const message = structuredClone(original);
  for (let changes = 1 + random.int(3); changes > 0; changes -= 1) {
    const place = random.oneOf(placesOf(message));
    if (place === undefined) return message;
    change(place, message, random);
  }
  return random.chance(0.02) ? [message] : random.chance(0.01) ? random.oneOf(ODD) : message;
}

function change({ of, key }: Place, message: Record<string, unknown>, random: Random): void {
  switch (random.int(9)) {
    case 0:
      delete of[key];
      break;
    case 1:
      of[key] = copyOf(random.oneOf(ODD));
      break;
    case 2:
      define(of, random.oneOf(KEYS) ?? '', copyOf(random.oneOf(ODD)));
      break;
    case 3:
      define(of, random.oneOf(KEYS) ?? '', copyOf(of[key]));
      break;
    case 4:
      of[key] = [of[key]];
      break;
    case 5:
      of[key] = { [key]: of[key] };
      break;
    case 6:
      of[key] = spelledOtherwise(of[key]);
      break;
    case 7:
      message.method = random.oneOf(METHODS);
      break;
    default:
      of[key] = random.oneOf(placesOf(message).map((other) => copyOf(other.of[other.key])));
  }
}

/** Every member of the message's objects, four levels deep. */
function placesOf(value: unknown, depth = 4): Place[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || depth === 0) return [];
  const of = value as Record<string, unknown>;
  return Object.keys(of).flatMap((key) => [{ of, key }, ...placesOf(of[key], depth - 1)]);
}

/** `__proto__` too becomes a member. */
function define(of: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(of, key, { value, enumerable: true, configurable: true, writable: true });
}

function spelledOtherwise(value: unknown): unknown {
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string') return /^\d+$/.test(value) ? Number(value) : value.toUpperCase();
  return value === null ? 0 : null;
}

function copyOf(value: unknown): unknown {
  return value === undefined ? undefined : structuredClone(value);
}
