import { describe, expect, it } from 'vitest';
import { NO_LISTS, type UpstreamLists, type WalkOptions, walkUpstream } from '../../src/catalogue/walk.ts';
import { AnsweredError, Fault } from '../../src/protocol/errors.ts';
import { recordedLog } from '../support/recorded.ts';

const ALL = { tools: {}, resources: {}, prompts: {} };
const EMPTY: Record<string, string> = {
  'tools/list': '{"tools":[]}',
  'resources/list': '{"resources":[]}',
  'resources/templates/list': '{"resourceTemplates":[]}',
  'prompts/list': '{"prompts":[]}',
};

type Answer = (cursor: string | undefined) => string;

/** An upstream that answers from a table and notes what it was asked. */
function upstream(answers: Readonly<Record<string, Answer>>) {
  const asked: string[] = [];
  const ask = async (method: string, params?: string) => {
    asked.push(params === undefined ? method : `${method} ${params}`);
    const { cursor }: { cursor?: string } = JSON.parse(params ?? '{}');
    return answers[method]?.(cursor) ?? EMPTY[method] ?? '{}';
  };
  return { ask, asked };
}

async function walk(answers: Readonly<Record<string, Answer>>, options: Partial<WalkOptions> = {}, capabilities = {}) {
  const log = recordedLog();
  const { ask, asked } = upstream(answers);
  const { lists, failed } = await walkUpstream(ask, { ...ALL, ...capabilities }, { log, ...options });
  return { lists, failed, asked, log };
}

function fail(error: Error): Answer {
  return () => {
    throw error;
  };
}

function names(lists: UpstreamLists, kind: keyof UpstreamLists = 'tools'): string[] {
  return lists[kind].map(({ original }) => original);
}

function tools(...named: string[]): string {
  return `{"tools":[${named.map((name) => `{"name":"${name}"}`).join(',')}]}`;
}

function page(cursor: string, ...named: string[]): string {
  return tools(...named).replace(/}$/, `,"nextCursor":"${cursor}"}`);
}

describe('a walk', () => {
  it('reads all pages of every announced list and no other (B051)', async () => {
    const pages = new Map([
      [undefined, page('', 'a', 'b')],
      ['', page('2', 'c', 'd')],
      ['2', tools('e', 'f')],
    ]);
    const { lists, asked } = await walk(
      { 'tools/list': (cursor) => pages.get(cursor) ?? '{}' },
      {},
      { prompts: undefined },
    );
    expect(names(lists)).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
    expect(asked.sort()).toEqual([
      'resources/list',
      'resources/templates/list',
      'tools/list',
      'tools/list {"cursor":""}',
      'tools/list {"cursor":"2"}',
    ]);
  });

  it('walks only the kinds wanted and keeps the others', async () => {
    const { lists: previous } = await walk({ 'tools/list': () => tools('old') });
    const { lists, asked } = await walk({}, { previous, kinds: ['resources'] });
    expect(names(lists)).toEqual(['old']);
    expect(asked.sort()).toEqual(['resources/list', 'resources/templates/list']);
  });

  it('ends at a cursor that repeats and keeps what there is', async () => {
    const { lists, asked, log } = await walk({ 'tools/list': (cursor) => page('again', cursor ?? 'first') });
    expect(names(lists)).toEqual(['first', 'again']);
    expect(asked.filter((line) => line.startsWith('tools/list'))).toHaveLength(2);
    expect(log.lines).toEqual([
      { event: 'list_cut', fields: { kind: 'tools', reason: 'repeated_cursor', pages: 2, kept: 2 } },
    ]);
  });

  it.each([
    [{ pages: 3, items: 100, bytes: 1e6 }, 'pages', 6],
    [{ pages: 100, items: 5, bytes: 1e6 }, 'items', 5],
    [{ pages: 100, items: 100, bytes: 100 }, 'bytes', 4],
  ])('ends at its bounds %j', async (bounds, reason, kept) => {
    let next = 0;
    const answer = () => page(`${next}`, `${next++}`, `${next++}`);
    const { lists, log } = await walk({ 'tools/list': answer }, { bounds });
    expect(lists.tools).toHaveLength(kept);
    expect(log.lines[0]).toMatchObject({ event: 'list_cut', fields: { reason, kept } });
  });

  it('keeps the previous definitions of a list that fails and hides no other', async () => {
    const { lists: previous } = await walk({ 'tools/list': () => tools('old') });
    const answers = { 'tools/list': fail(new Fault('timeout')), 'prompts/list': () => '{"prompts":[{"name":"p"}]}' };
    const { lists, failed, log } = await walk(answers, { previous });
    expect(names(lists)).toEqual(['old']);
    expect(names(lists, 'prompts')).toEqual(['p']);
    expect(failed).toEqual(['tools']);
    expect(log.lines).toMatchObject([{ event: 'list_failed', fields: { kind: 'tools', kept: 1 } }]);
  });

  it('keeps the pages it has read of a list that fails the first time', async () => {
    const answer = (cursor?: string) => (cursor === undefined ? page('x', 'a') : '{"no":"list"}');
    const { lists, failed } = await walk({ 'tools/list': answer });
    expect(names(lists)).toEqual(['a']);
    expect(failed).toEqual(['tools']);
  });

  it('takes an error for an answer, and no templates method for no templates', async () => {
    const unknown = fail(new AnsweredError({ code: -32601, message: 'Method not found' }));
    const { lists, failed, log } = await walk({ 'resources/templates/list': unknown, 'prompts/list': unknown });
    expect(lists).toEqual(NO_LISTS);
    expect(failed).toEqual([]);
    expect(log.lines).toMatchObject([{ event: 'list_failed', fields: { kind: 'prompts' } }]);
  });

  it('drops the definitions of a list that is no longer announced', async () => {
    const { lists: previous } = await walk({ 'tools/list': () => tools('old') });
    const { lists } = await walk({}, { previous }, { tools: undefined });
    expect(lists).toEqual(NO_LISTS);
  });

  it('keeps what tools want repeated and names those that say so in a wrong way, ten at most, where the link asks for it', async () => {
    const headed = (name: string, header: string) =>
      `{"name":"${name}","inputSchema":{"properties":{"v":{"type":"string","x-mcp-header":"${header}"}}}}`;
    const wrong = Array.from({ length: 12 }, (_, at) => headed(`w${at}`, '?'));
    const pages = new Map([
      [undefined, `{"tools":[${[headed('ok', 'V'), ...wrong.slice(0, 7)].join()}],"nextCursor":"2"}`],
      ['2', `{"tools":[${[...wrong.slice(7), '{"name":"plain"}'].join()}]}`],
    ]);
    const answers: Record<string, Answer> = { 'tools/list': (cursor) => pages.get(cursor) ?? '{}' };
    const { lists, log } = await walk(answers, { mirrors: true });
    expect(lists.tools.map(({ original, mirrors }) => [original, mirrors?.key])).toEqual([
      ['ok', '[{"header":"v","path":["v"]}]'],
      ['plain', undefined],
    ]);
    expect(log.lines.filter(({ event }) => event === 'tool_refused')).toHaveLength(10);
    expect(log.lines.at(-1)).toEqual({ event: 'definitions_skipped', fields: { kind: 'tools', invalid_header: 12 } });
    expect(names((await walk(answers)).lists)).toHaveLength(14);
  });

  it('logs what it left out, once a list', async () => {
    const { log } = await walk({ 'tools/list': () => '{"tools":[1,2,{"name":"a"},{"name":"a"}]}' });
    expect(log.lines).toEqual([
      { event: 'definitions_skipped', fields: { kind: 'tools', not_an_object: 2, repeated: 1 } },
    ]);
  });
});
