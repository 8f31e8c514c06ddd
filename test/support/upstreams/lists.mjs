// A hand-written line server that lists exactly what it is told to, page by page, and answers every call with the name
// it was called by. Arguments: the file that records what it is asked (or ''), and options as JSON: `pages` are the JSON
// texts of arrays of tools, an `endless` list hands out a new cursor for ever, `answer` is the JSON text of every call's
// result, and the lines of `noise` come before each message.
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [, , recordFile, options] = process.argv;
const { pages, endless = false, answer, noise = [] } = JSON.parse(options);
const record = (line) => recordFile && appendFileSync(recordFile, `${line}\n`);
const opened = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: {} },
  serverInfo: { name: 'lists', version: '1' },
};
let handed = 0;

function page(cursor) {
  const at = cursor === undefined ? 0 : Number(cursor.slice(1));
  handed += 1;
  const tools = pages[endless ? handed - 1 : at] ?? '[]';
  const next = endless ? `c${handed}` : `c${at + 1}`;
  return endless || at + 1 < pages.length ? `{"tools":${tools},"nextCursor":"${next}"}` : `{"tools":${tools}}`;
}

const methods = {
  initialize: () => JSON.stringify(opened),
  'tools/list': ({ cursor }) => page(cursor),
  'tools/call': ({ name }, line) => {
    record(`call ${name}`);
    record(`line ${line}`);
    return answer ?? JSON.stringify({ content: [{ type: 'text', text: name }] });
  },
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params = {} } = JSON.parse(line);
  const result = methods[method]?.(params, line);
  if (method === 'server/discover')
    process.stdout.write(`{"jsonrpc":"2.0","id":${id},"error":{"code":-32601,"message":"Method not found"}}\n`);
  if (id === undefined || result === undefined) return;
  for (const each of noise) process.stdout.write(`${each}\n`);
  process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":${result}}\n`);
});
