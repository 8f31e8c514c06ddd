import type { SealPurpose } from '../ports/seal.ts';
import { answeredError } from '../protocol/answered-error.ts';
import { errorText, resultText } from '../protocol/compose.ts';
import { numberField, type Response } from '../protocol/envelope.ts';
import type { Era } from '../protocol/era.ts';
import { Fault, faultError, type WireError } from '../protocol/errors.ts';
import {
  type InputRequests,
  inputRequestsOf,
  inputRequiredText,
  isInputRequired,
  mayAskBack,
  needOfInput,
  requestStateOf,
} from '../protocol/input-required.ts';
import { withMember, withoutMember } from '../protocol/members.ts';
import { HEADER_MISMATCH, modernAnswer, UNSUPPORTED_VERSION } from '../protocol/modern.ts';
import { isMet, missingCapability } from '../protocol/need.ts';
import { URL_ELICITATION_REQUIRED, urlElicitations } from '../protocol/url-elicitation.ts';
import type { Spelled } from './relay.ts';
import type { Said } from './said.ts';
import { outcomeOf, type Turn } from './turn.ts';

export interface Answering {
  readonly turn: Turn;
  readonly said: Said;
  /** Of the upstream that answers. */
  readonly era: Era;
  /** A `requestState` for this request. */
  readonly seal: (purpose: SealPurpose, content: string) => string;
}

/** An upstream's answer as a modern client reads it: where the upstream needs more of the client, as questions under our own state. */
export function spellModern(response: Response, answering: Answering): Spelled {
  const { id, method } = answering.turn.request;
  const mayAsk = answering.era === 'modern' && mayAskBack(method);
  const code = codeOf(response);
  if (isInputRequired(response)) return mayAsk ? questions(response, answering) : refused(answering.turn, MISFIT);
  if (code === URL_ELICITATION_REQUIRED) return visits(response, answering);
  if (code !== undefined && OF_LINKS.includes(code)) return refused(answering.turn, MISFIT);
  return { frame: modernAnswer(response, method, id), outcome: outcomeOf(response) };
}

/** A modern upstream's questions as they are; its state is wrapped in ours, so that nobody else can bring it back. */
function questions(response: Response, { turn, said, seal }: Answering): Spelled {
  const state = requestStateOf(response);
  const refusal = (state?.length ?? 0) > MAX_STATE ? MISFIT : refusalOf(inputRequestsOf(response), said);
  if (refusal !== undefined) return refused(turn, refusal);
  const { text, payload } = response;
  const result = text.slice(payload.start, payload.end);
  const own = state === undefined ? result : withState(result, seal('upstream-state', state));
  return { frame: resultText(turn.request.id, own), outcome: 'input_required' };
}

/** Pages a handshake upstream wants visited before the call is made again (MCP 2025-11-25, -32042). */
function visits(response: Response, { turn, said, seal }: Answering): Spelled {
  const asked = urlElicitations(answeredError(response));
  const refusal = refusalOf(asked, said);
  if (asked === undefined || refusal !== undefined) return refused(turn, refusal ?? MISFIT);
  return { frame: inputRequiredText(turn.request.id, asked, seal('again', '')), outcome: 'input_required' };
}

function refusalOf(asked: InputRequests | undefined, { declares }: Said): WireError | undefined {
  if (asked === undefined) return MISFIT;
  for (const request of asked.values()) {
    const need = needOfInput(request);
    if (need === undefined) return MISFIT;
    if (!isMet(need, declares)) return missingCapability(need);
  }
  return undefined;
}

function refused(turn: Turn, error: WireError): Spelled {
  return { frame: errorText(turn.request.id, error), outcome: 'error' };
}

function withState(result: string, state: string): string {
  return withMember(withoutMember(result, 'requestState'), 'requestState', JSON.stringify(state));
}

function codeOf({ outcome, text, payload }: Response): number | undefined {
  return outcome === 'error' ? numberField(text, payload.inner, 'code') : undefined;
}

/** Codes with a meaning between a client and the gateway alone: no upstream may say them (-32020, -32022). */
const OF_LINKS = [HEADER_MISMATCH, UNSUPPORTED_VERSION];
/** Longest state of an upstream, in UTF-16 units: sealed, it has to come back with the request. */
const MAX_STATE = 48 * 1024;
/** The upstream does not keep to its revision, or asks too much. */
const MISFIT: WireError = faultError(new Fault('too_large'));
