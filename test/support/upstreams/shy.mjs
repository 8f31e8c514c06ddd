// A handshake server with the tool `act` that exits when it is asked anything before `initialize`. Its argument is the
// file in which it records the first method it hears.
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const results = {
  initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'shy', version: '1' } },
  'tools/list': { tools: [{ name: 'act', inputSchema: { type: 'object' } }] },
  'tools/call': { content: [{ type: 'text', text: 'called' }] },
};
let isOpen = false;

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (!isOpen) appendFileSync(process.argv[2], `${method}\n`);
  isOpen ||= method === 'initialize';
  if (!isOpen) process.exit(1);
  if (id !== undefined) process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: results[method] })}\n`);
});
