// Initialises as it should and dies when it is asked for its tools. Its argument is a file that records when each start was.
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

appendFileSync(process.argv[2], `${Date.now()}\n`);
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (method === 'tools/list') process.exit(1);
  if (method === 'server/discover') {
    const error = { code: -32601, message: 'Method not found' };
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, error })}\n`);
  }
  if (method !== 'initialize') return;
  const result = {
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'listless', version: '1' },
  };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`);
});
