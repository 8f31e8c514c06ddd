// The library on stdio. Arguments: the file that records what happens to it (or ''), and its options as JSON.
import { appendFileSync } from 'node:fs';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { createLibrary, makeWorld } from './library-server.mjs';

const [, , recordFile, options = '{}'] = process.argv;
const record = (line) => recordFile && appendFileSync(recordFile, `${line}\n`);
record(`pid ${process.pid}`);
await createLibrary(makeWorld(JSON.parse(options)), record).connect(new StdioServerTransport());
