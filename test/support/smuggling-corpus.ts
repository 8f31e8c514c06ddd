/** A frame that tries to bring a forbidden request past whoever judges it. */
export interface SmuggledFrame {
  readonly title: string;
  readonly frame: string;
}

const LINE_BREAKS = { CR: '\r', LF: '\n', CRLF: '\r\n' };
/** What some readers of lines split at, and JSON allows in a string. */
const STRING_BREAKS = { 'U+0085': '\u0085', 'U+2028': '\u2028', 'U+2029': '\u2029' };
/** What Python's str.splitlines splits at and JSON allows nowhere. */
const CONTROLS = { VT: '\v', FF: '\f', FS: '\x1c', GS: '\x1d', RS: '\x1e', NUL: '\0' };

/**
 * Frames for a gateway whose policy allows `allowed` and denies `forbidden`, both public names. `inner` is the forbidden
 * tool's name at its upstream. None of them may ever run the forbidden tool, and each is at most one line to an upstream.
 */
export function smugglingCorpus(allowed: string, forbidden: string, inner: string): readonly SmuggledFrame[] {
  const hidden = `{"jsonrpc":"2.0","id":666,"method":"tools/call","params":{"name":"${inner}","arguments":{}}}`;
  const call = (params: string, rest = '') =>
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{${params}}${rest}}`;
  const good = `"name":"${allowed}","arguments":{}`;
  const bad = `"name":"${forbidden}"`;
  const text = (value: string) => call(`"name":"${allowed}","arguments":{"text":"${value}"}`);
  const quoted = hidden.replaceAll('"', '\\"');
  const each = (breaks: Readonly<Record<string, string>>, make: (character: string) => string, where: string) =>
    Object.entries(breaks).map(([name, character]) => ({ title: `${name} ${where}`, frame: make(character) }));
  const listed = (frames: Readonly<Record<string, string>>) =>
    Object.entries(frames).map(([title, frame]) => ({ title, frame }));
  return [
    ...each(LINE_BREAKS, (b) => `${call(good)}${b}${hidden}`, 'between two messages'),
    ...each(LINE_BREAKS, (b) => call(good, `,"x":${b}${hidden}${b}`), 'around a request that is a member'),
    ...each(LINE_BREAKS, (b) => call(`"name":"${allowed}","arguments":${b}${hidden}${b}`), 'around one in arguments'),
    ...each(
      LINE_BREAKS,
      (b) => call(`${good},"_meta":{"progressToken":1,"x":${b}${hidden}${b}}`),
      'around one in _meta',
    ),
    ...each(LINE_BREAKS, (b) => call(good).replaceAll(',', `${b},${b}`), 'between all tokens'),
    ...each(LINE_BREAKS, (b) => text(`${b}${quoted}${b}`), 'raw in a string'),
    ...each(STRING_BREAKS, (b) => text(`${b}${quoted}${b}`), 'in a string around a quoted request'),
    ...each(STRING_BREAKS, (b) => call(`${good},"${b}":1`), 'in a key'),
    ...each(STRING_BREAKS, (b) => text(`"}}}${b}${hidden}${b}`), 'after a string that is closed early'),
    ...each(STRING_BREAKS, (b) => call(good, `,"x":${b}${hidden}`), 'between tokens'),
    ...each(CONTROLS, (c) => call(good, `,"x":${c}${hidden}${c}`), 'between tokens'),
    ...each(CONTROLS, (c) => text(`${c}${quoted}${c}`), 'in a string'),
    ...listed({
      'a forbidden name': call(bad),
      'two messages side by side': `${call(good)}${hidden}`,
      'a batch': `[${call(good)},${hidden}]`,
      'name twice, the last forbidden': call(`${good},${bad}`),
      'name twice, the first forbidden': call(`${bad},${good}`),
      'name twice, the second escaped': call(`${good},"n\\u0061me":"${forbidden}"`),
      'name twice, the second as the upstream knows it': call(`${good},"name":"${inner}"`),
      'name only in capitals': call(`"Name":"${forbidden}"`),
      'name beside Name': call(`${good},"Name":"${inner}"`),
      'name beside NAME, escaped': call(`${good},"\\u004eAME":"${inner}"`),
      'method twice': call(good, `,"method":"tools/call"`),
      'method beside Method': call(good, `,"Method":"resources/read"`),
      'params twice': call(good, `,"params":{"name":"${inner}"}`),
      'params twice, the second escaped': call(good, `,"par\\u0061ms":{"name":"${inner}"}`),
      'params beside Params': call(good, `,"Params":{"name":"${inner}"}`),
      'params beside one with a long s': call(good, `,"param\u017f":{"name":"${inner}"}`),
      'id twice': call(good, ',"id":2'),
      'jsonrpc twice': call(good, ',"jsonrpc":"1.0"'),
      '_meta twice': call(`${good},"_meta":{},"_meta":{"progressToken":1}`),
      'arguments twice': call(`${good},"arguments":{"name":"${inner}"}`),
      'a key of arguments twice': call(`"name":"${allowed}","arguments":{"a":1,"a":2}`),
      'a key deep in arguments twice': call(`"name":"${allowed}","arguments":{"x":[{"a":1,"\\u0061":2}]}`),
      'a name in ref beside the name': call(`${good},"ref":{"type":"ref/prompt","name":"${inner}"}`),
      'only a name in ref': call(`"ref":{"type":"ref/prompt","name":"${forbidden}"},"arguments":{}`),
      'a uri beside the name': call(`${good},"uri":"${inner}"`),
      'a request that is a result too': call(good, ',"result":{}'),
      'a request as arguments': call(`"name":"${allowed}","arguments":${hidden}`),
      'a name that is an object': call(`"name":{"name":"${inner}"}`),
      'a name that is a list': call(`"name":["${allowed}","${inner}"]`),
      'a name ending in NUL': call(`"name":"${forbidden}\\u0000"`),
      'a name ending in a line break': call(`"name":"${forbidden}\\n"`),
      'a method ending in a line break': hidden.replace('tools/call', 'tools/call\\n'),
      'an escaped line break in a string': text(`\\n${quoted}\\n`),
      'an id that holds a request': call(good).replace('"id":1', `"id":"\\n${quoted}"`),
      'an id that is too long': call(good).replace('"id":1', `"id":"${'x'.repeat(2000)}"`),
      'a progress token that holds a request': call(`${good},"_meta":{"progressToken":"\\n${quoted}"}`),
      'a cancellation that holds a request': `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":\n${hidden}\n}}`,
      'a notification of a call': `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"${inner}"}}`,
      'an answer that holds a request': `{"jsonrpc":"2.0","id":1,"result":\n${hidden}\n}`,
      'a comment': call(good).replace('{', '{/* x */'),
      'a line comment': `// x\n${hidden}`,
      'a trailing comma': call(`${good},`),
      NaN: call(`"name":"${allowed}","arguments":{"n":NaN}`),
      Infinity: call(`"name":"${allowed}","arguments":{"n":Infinity}`),
      'single quotes': hidden.replaceAll('"', "'"),
      'keys without quotes': hidden.replaceAll(/"(\w+)":/g, '$1:'),
      'a byte order mark': `\ufeff${hidden}`,
      'a leading zero': call(`"name":"${allowed}","arguments":{"n":01}`),
      'text after the message': `${call(good)} x`,
      'an empty frame': '',
      'white space': ' \r\n ',
      'a key named __proto__': call(`${good},"__proto__":{"name":"${inner}"}`),
      'nesting too deep': call(`"name":"${allowed}","arguments":{"x":${'['.repeat(5000)}${']'.repeat(5000)}}`),
      'unfinished nesting': `{"jsonrpc":"2.0","id":1,"params":${'{"a":'.repeat(5000)}`,
      'a lone surrogate': text('\\ud800'),
    }),
  ];
}
