import type { Question, Withdraw } from '../ports/link.ts';
import type { ClientCapabilities } from '../protocol/capabilities.ts';
import { resultText } from '../protocol/compose.ts';
import { field, type Request, readMessage } from '../protocol/envelope.ts';
import type { InputRequest, InputRequests } from '../protocol/input-required.ts';
import { withMember, withoutMember } from '../protocol/members.ts';
import { isMet, type Need, needOf } from '../protocol/need.ts';

/** UTF-16 units of all that one call asks at a time: they come in one answer. */
const MAX_LENGTH = 4 * 1024 * 1024;

/** What an upstream has asked for one call and has no answer to yet, by the keys a modern client knows it by: `g1`, `g2`, … */
export class OpenQuestions {
  private readonly depth: number;
  private readonly open = new Map<string, Question>();
  private last = 0;

  constructor(depth: number) {
    this.depth = depth;
  }

  get size(): number {
    return this.open.size;
  }

  /** Undefined where it would be too much to be put into one answer. */
  add(question: Question): Withdraw | undefined {
    const open = [...this.open.values(), question];
    if (open.reduce((sum, { request }) => sum + request.text.length, 0) > MAX_LENGTH) return undefined;
    this.last += 1;
    const key = `g${this.last}`;
    this.open.set(key, question);
    return () => this.open.delete(key);
  }

  /** JSON texts of results by key. One that is nobody's answer is ignored. */
  bring(results: ReadonlyMap<string, string>): void {
    for (const [key, result] of results) {
      const response = readMessage(resultText(0, result), this.depth);
      const question = this.open.get(key);
      if (question === undefined || response.kind !== 'response') continue;
      this.open.delete(key);
      question.answer(response);
    }
  }

  /** What this client would have to declare to be asked one of them. */
  unmet(declared: ClientCapabilities): Need | undefined {
    const needs = [...this.open.values()].map(({ request }) => needOf(request));
    return needs.find((need) => need !== undefined && !isMet(need, declared));
  }

  asRequests(): InputRequests {
    return new Map([...this.open].map(([key, { request }]) => [key, embedded(request)]));
  }
}

/** A request as it is put into a result: without what only a request of its own has (MCP 2026-07-28: no `elicitationId`, no task, no progress). */
function embedded({ method, text, params, meta }: Request): InputRequest {
  if (params === undefined) return { method, params: '{}' };
  const own = withoutMember(withoutMember(text.slice(params.start, params.end), 'elicitationId'), 'task');
  if (field(meta, 'progressToken') === undefined || meta === undefined) return { method, params: own };
  const kept = withoutMember(text.slice(meta.start, meta.end), 'progressToken');
  return { method, params: withMember(withoutMember(own, '_meta'), '_meta', kept) };
}
