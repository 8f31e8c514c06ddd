// A hand-written line server: what it is sent and what it answers are exact bytes. Every line it reads is recorded in the
// file named by its first argument. `tools/list` answers with the text in its second argument, a call with its arguments.
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [, , recordFile, definitions = '[{"name":"echo","inputSchema":{"type":"object"}}]'] = process.argv;

const answers = {
  initialize: () =>
    '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"raw","version":"1"}}',
  'tools/list': () => `{"tools":${definitions}}`,
  'tools/call': (line) => {
    const given = /"arguments":(\{.*\})\}\}$/.exec(line)?.[1] ?? '{}';
    return `{"content":[],"structuredContent":${given},"vendor":9223372036854775807}`;
  },
};

createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY }).on('line', (line) => {
  appendFileSync(recordFile, `${line}\n`);
  const { id, method } = JSON.parse(line);
  const answer = answers[method];
  if (method === 'server/discover')
    process.stdout.write(`{"jsonrpc":"2.0","id":${id},"error":{"code":-32601,"message":"Method not found"}}\n`);
  else if (id !== undefined && answer !== undefined)
    process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":${answer(line)}}\n`);
});
