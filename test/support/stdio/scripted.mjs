// A stdio child that does what each request asks: `node scripted.mjs [--stubborn] [--announced]`.
// Stubborn: ignores SIGTERM and the end of stdin. Announced: says its pid first.
import { spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { createInterface } from 'node:readline';

const stubborn = process.argv.includes('--stubborn');
if (stubborn) {
  process.on('SIGTERM', () => {});
  setInterval(() => {}, 60_000);
}

const write = (text) => process.stdout.write(text);
const answer = (id, result) => write(`${JSON.stringify({ result, jsonrpc: '2.0', id })}\n`);

if (process.argv.includes('--announced')) write(`${JSON.stringify({ announced: process.pid })}\n`);

const methods = {
  env: (id) => answer(id, process.env),
  /** A stubborn process in the same group, on the same stdout, that announces itself. */
  sibling: () => {
    const args = [process.argv[1], '--stubborn', '--announced'];
    spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  },
  pid: (id) => answer(id, { pid: process.pid }),
  /** An answer of `bytes` bytes and a little; the id stands last, as SDK servers write it, or first. */
  large: (id, { bytes, idFirst }) => {
    const result = { text: 'x'.repeat(bytes) };
    write(`${JSON.stringify(idFirst ? { jsonrpc: '2.0', id, result } : { result, jsonrpc: '2.0', id })}\n`);
  },
  raw: (_, { text }) => write(text),
  stderr: (id, { text }) => process.stderr.write(text, () => answer(id, {})),
  exit: (_, { code }) => process.exit(code),
  closeStdin: (id) => {
    process.stdin.destroy();
    closeSync(0);
    answer(id, {});
    setInterval(() => {}, 60_000);
  },
  closeStdout: () => {
    closeSync(1);
    setInterval(() => {}, 60_000);
  },
  flood: () => {
    const line = `${JSON.stringify({ jsonrpc: '2.0', method: 'flood', params: { text: 'x'.repeat(60_000) } })}\n`;
    const more = () => write(line, more);
    more();
  },
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  methods[method](id, params);
});
