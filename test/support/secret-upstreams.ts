import { onTestFinished } from 'vitest';
import type { Canaries } from './canaries.ts';
import { answerJson, answerStatus, type Exchange, openHttpUpstream } from './http-upstream.ts';
import { type Asked, type ScriptedUpstream, scriptedUpstream } from './scripted-upstream.ts';

const tools = (...names: readonly string[]) => ({
  tools: names.map((name) => ({ name, inputSchema: { type: 'object' } })),
});
const SERVER = { protocolVersion: '2025-11-25', serverInfo: { name: 's', version: '0' } };
const ELICITATION = { message: 'which?', requestedSchema: { type: 'object', properties: {} } };

/** Says what it is asked to and more: each answer that fails repeats all it was sent. */
export async function tellTale(): Promise<ScriptedUpstream> {
  const call = (asked: Asked): void => {
    const { params, link, result, error } = asked;
    const all = JSON.stringify(params);
    if (params.name === 'run') {
      link.send({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'error', data: all } });
      result({ content: [{ type: 'text', text: 'ran' }] });
    }
    if (params.name === 'fail') error({ code: -32050, message: all, data: params });
    if (params.name === 'large') result({ content: [{ type: 'text', text: all.padEnd(100_000, ' ') }] });
    if (params.name === 'twice') result(`{"content":[],"content":[${all}]}`);
    if (params.name === 'drop') link.hangUp();
    if (params.name === 'ask') link.send({ ...ASK, params: ELICITATION });
  };
  return scriptedUpstream(
    {
      'tools/list': ({ result }) =>
        result(tools('run', 'fail', 'large', 'twice', 'drop', 'ask', 'sleep', 'denied', 'ruled')),
      'tools/call': call,
      'prompts/list': ({ result }) => result({ prompts: [{ name: 'p' }, { name: 'hidden' }] }),
      'prompts/get': ({ params, error }) => error({ code: -32051, message: JSON.stringify(params) }),
      'resources/templates/list': ({ result }) =>
        result({ resourceTemplates: [{ uriTemplate: 'res://x{?key}', name: 'x' }] }),
      'resources/read': ({ params, error }) => error({ code: -32052, message: JSON.stringify(params) }),
      'completion/complete': ({ params, error }) => error({ code: -32053, message: JSON.stringify(params) }),
    },
    { timeout: '2s' },
  );
}

const ASK = { jsonrpc: '2.0', id: 'asked', method: 'elicitation/create' };

/** Shared by all, with room for one call at a time, which it keeps and talks of to everybody. */
export async function keeper() {
  const held: Asked[] = [];
  const upstream = await scriptedUpstream(
    {
      'tools/list': ({ result }) => result(tools('hold')),
      'tools/call': (asked) => {
        held.push(asked);
        const data = JSON.stringify(asked.params);
        asked.link.send({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'error', data } });
      },
    },
    { concurrency: 1, isolation: 'shared' },
  );
  return { ...upstream, held, release: () => held.splice(0).forEach(({ result }) => void result({ content: [] })) };
}

/** Over HTTP; what it was sent, headers and all, is in each of its failures. */
export async function echoing(headers: Readonly<Record<string, string>>, maxSessions = Number.POSITIVE_INFINITY) {
  let sessions = 0;
  const upstream = await openHttpUpstream((exchange) => {
    const { method, body, response } = exchange;
    if (method !== 'POST') return answerStatus(response, 405);
    const { id, method: asked, params } = JSON.parse(body);
    const result = (value: object) => answerJson(response, JSON.stringify({ jsonrpc: '2.0', id, result: value }));
    if (id === undefined) return answerStatus(response, 202);
    if (asked === 'initialize') {
      sessions += 1;
      return sessions > maxSessions ? fail(exchange, 503) : result({ ...SERVER, capabilities: { tools: {} } });
    }
    if (asked === 'tools/list') return result(tools('500', '401', '302', '200', 'cut'));
    if (asked === 'tools/call') return fail(exchange, Number(params.name));
    const error = { code: -32601, message: 'Method not found' };
    return answerJson(response, JSON.stringify({ jsonrpc: '2.0', id, error }));
  });
  onTestFinished(() => upstream.close());
  return { ...upstream, entry: { url: upstream.url, headers } };
}

function fail({ headers, body, response }: Exchange, status: number): void {
  const echo = JSON.stringify({ headers, body });
  if (Number.isNaN(status)) {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(`data: {"echo":${echo}\n\n`);
    return void setImmediate(() => response.destroy());
  }
  const secret = encodeURIComponent(String(headers.authorization));
  const more =
    status === 302 ? { location: `http://127.0.0.1:9/${secret}` } : { 'www-authenticate': `Bearer ${secret}` };
  response.writeHead(status, { 'content-type': 'application/json', ...more }).end(`{"error":${echo}`);
}

/** A child that tells what it was given, to whoever reads: on standard error, as noise, as JSON, and in its refusal. */
export function blabbing(known: Canaries): Readonly<Record<string, unknown>> {
  const script = `
    const { KEY, OTHER } = process.env;
    console.error('key', KEY, OTHER);
    console.log('key ' + KEY);
    console.log(JSON.stringify({ level: 30, msg: KEY, other: OTHER }));
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id } = JSON.parse(line);
      if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32001, message: KEY, data: OTHER } }));
    });`;
  const env = { KEY: known.make('env'), OTHER: known.make('other-env') };
  return { command: process.execPath, args: ['-e', script, known.make('args')], env };
}
