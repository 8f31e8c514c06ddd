import { createConnection, createServer } from 'node:net';

/**
 * Runs in an engine's network namespace and lets connections in through a Unix socket, which no namespace hides: the first
 * line is the port or `address:port` that is wanted, the rest is passed on both ways.
 */
const [path = ''] = process.argv.slice(2);
createServer({ allowHalfOpen: true }, (outside) => {
  outside.once('data', (first: Buffer) => {
    const end = first.indexOf('\n');
    const [port, host = '127.0.0.1'] = first.toString('latin1', 0, end).split(':').reverse();
    const inside = createConnection({ host, port: Number(port), allowHalfOpen: true });
    inside.write(first.subarray(end + 1));
    outside.pipe(inside).pipe(outside);
    inside.once('error', () => outside.destroy());
    inside.once('close', () => outside.destroy());
    outside.once('close', () => inside.destroy());
  });
  outside.on('error', () => {});
}).listen(path);
