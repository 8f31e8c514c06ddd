// A stdio child moved by the test over a second connection: `node puppet.mjs PORT GREETING_JSON`.
// Test -> child, a JSON line each: { say: [messages] } writes them in one go, { end: true } exits.
// Child -> test: { got: message } for each line of stdin, { said: true } when written.
import { connect } from 'node:net';

const [port, greeting] = process.argv.slice(2);
for (const message of JSON.parse(greeting)) process.stdout.write(`${message}\n`);

const control = connect(Number(port), '127.0.0.1');
const tell = (word) => control.write(`${JSON.stringify(word)}\n`);

onLines(process.stdin, (line) => tell({ got: line }));
onLines(control, (line) => {
  const order = JSON.parse(line);
  if (order.end) process.exit(0);
  process.stdout.write(order.say.map((message) => `${message}\n`).join(''), () => tell({ said: true }));
});
process.stdin.on('end', () => process.exit(0));
control.on('error', () => process.exit(1));

function onLines(stream, take) {
  let rest = '';
  stream.setEncoding('utf8');
  stream.on('data', (text) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop();
    for (const line of lines) take(line);
  });
}
