import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readMessage } from '../../src/protocol/envelope.ts';
import { rewriteRequest } from '../../src/protocol/rewrite.ts';

/** The request as it would go on, from its method and the JSON text of its `params`. */
function sent(method: string, params: string): string {
  const message = readMessage(`{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`, 100);
  if (message.kind !== 'request') throw new Error(message.kind);
  return rewriteRequest(message, { id: 7 });
}

test.each(['tools/call', 'sampling/createMessage', 'elicitation/create'])(
  '%s goes on without the task it asks for, wherever that stands',
  (method) => {
    const around = fc.constantFrom('', ' ', '\t ');
    const member = fc.tuple(around, fc.constantFrom('"x":{"task":{}}', '"a":[1,2]', '"_meta":{"task":{}}'), around);
    const members = fc.uniqueArray(member, { selector: ([, text]) => text, maxLength: 3 });
    const task = fc.constantFrom('"task":{"ttl":1}', '"task" : {}', '"task":null', '"t\\u0061sk":[",","}"]');
    fc.assert(
      fc.property(members, task, fc.nat({ max: 3 }), (others, asked, at) => {
        const texts = others.map((parts) => parts.join(''));
        const whole = sent(method, `{${texts.toSpliced(at, 0, asked).join(',')}}`);
        expect(JSON.parse(whole)).toEqual({
          jsonrpc: '2.0',
          id: 7,
          method,
          params: JSON.parse(`{${texts.join(',')}}`),
        });
        for (const text of others) expect(whole).toContain(text[1]);
      }),
    );
  },
);

test('a member of that name is the sender’s own in any other request', () => {
  expect(sent('prompts/get', '{"name":"p","task":{"ttl":1}}')).toBe(
    '{"jsonrpc":"2.0","id":7,"method":"prompts/get","params":{"name":"p","task":{"ttl":1}}}',
  );
  expect(sent('x/run', '{"task":9}')).toBe('{"jsonrpc":"2.0","id":7,"method":"x/run","params":{"task":9}}');
});
