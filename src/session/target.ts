import type { Snapshot } from '../catalogue/catalogue.ts';
import type { Decision, FailedRule, Grants, Target as Subject } from '../policy/access.ts';
import type { ServerCapabilities } from '../protocol/capabilities.ts';
import { field, progressToken, type Request, stringField } from '../protocol/envelope.ts';
import { INVALID_PARAMS, RESOURCE_NOT_FOUND, type WireError } from '../protocol/errors.ts';
import { repeatsKey } from '../protocol/json-text.ts';
import type { Mirrors } from '../protocol/mirrors.ts';
import { METHODS, NOT_FOUND } from './admit.ts';
import type { VendorMethods } from './vendor-methods.ts';

/** What a data request is about, found and allowed. */
export interface Target {
  readonly upstream: string;
  /** The upstream's own name, where the request names a tool or prompt. */
  readonly name?: string;
  readonly uri?: string;
  /** What the upstream wants repeated beside the call. */
  readonly mirrors?: Mirrors;
  readonly rule: string;
  /** Rules that could not be asked on the way. */
  readonly failed?: readonly FailedRule[] | undefined;
  /** What was asked of policy. */
  readonly subject: Subject;
}

/** Why not. `denied` is for the recorder alone: the wire cannot tell denied from unknown. */
export interface Refusal {
  readonly error: WireError;
  readonly denied: boolean;
  readonly rule: string;
  readonly failed?: readonly FailedRule[] | undefined;
  readonly upstream: string | undefined;
}

export interface Judge {
  /** Of the principal's view. */
  readonly capabilities: ServerCapabilities;
  readonly snapshot: Snapshot;
  readonly grants: Grants;
  readonly vendor: VendorMethods;
}

/** Decides who owns what a request names and whether this principal may have it. Contacts nobody. */
export function findTarget(request: Request, judge: Judge): Target | Refusal {
  if (!METHODS.has(request.method)) return vendorTarget(request, judge.vendor, judge.grants) ?? refusal(NOT_FOUND);
  if (!announced(request.method, judge.capabilities)) return refusal(NOT_FOUND);
  const misfit = metaProblem(request) ?? argumentsProblem(request);
  if (misfit !== undefined) return invalid(misfit);
  switch (request.method) {
    case 'tools/call':
      return named(request, 'tools', judge);
    case 'prompts/get':
      return named(request, 'prompts', judge);
    case 'resources/read':
      return resource(request, judge);
    default:
      return completion(request, judge);
  }
}

/** What the audit calls it; empty for a vendor's method. */
export function nameOf({ name, uri }: Pick<Target, 'name' | 'uri'>): string {
  return name ?? uri ?? '';
}

/** The upstream that serves a method which is none of MCP's own; undefined where none does. A denied one is answered as if it were that. */
export function vendorTarget(request: Request, vendor: VendorMethods, grants: Grants): Target | Refusal | undefined {
  const { method } = request;
  const upstream = vendor.ownerOf(method);
  if (upstream === undefined) return undefined;
  const subject: Subject = { kind: 'methods', upstream, name: method };
  const decision = grants.decide(subject);
  if (decision.effect !== 'allow') return denied(NOT_FOUND, decision, upstream);
  const misfit = metaProblem(request);
  return misfit === undefined ? { upstream, rule: decision.rule, failed: decision.failed, subject } : invalid(misfit);
}

/** A method that belongs to a capability nobody in view has is no method (MCP 2025-11-25, Capability Negotiation). */
function announced(method: string, { tools, prompts, resources, completions }: ServerCapabilities): boolean {
  if (method === 'tools/call') return tools !== undefined;
  if (method === 'prompts/get') return prompts !== undefined;
  return (method === 'resources/read' ? resources : completions) !== undefined;
}

function named(request: Request, kind: 'tools' | 'prompts', judge: Judge, holder = request.params): Target | Refusal {
  const name = stringField(request.text, holder, 'name');
  if (name === undefined) return invalid('"name" must be a string');
  const unknown = { code: INVALID_PARAMS, message: `Unknown ${kind === 'tools' ? 'tool' : 'prompt'}: ${name}` };
  const owner = kind === 'tools' ? judge.snapshot.tools.resolve(name) : judge.snapshot.prompts.resolve(name);
  if (owner === undefined) return refusal(unknown);
  const { upstream, original } = owner;
  const subject: Subject = { kind, upstream, name: original, ...argumentsText(request) };
  const decision = judge.grants.decide(subject);
  if (decision.effect !== 'allow') return denied(unknown, decision, upstream);
  const target = { upstream, name: original, rule: decision.rule, failed: decision.failed, subject };
  const mirrors = kind === 'tools' ? judge.snapshot.mirrorsOf(upstream, original) : undefined;
  return mirrors === undefined ? target : { ...target, mirrors };
}

function resource(request: Request, judge: Judge): Target | Refusal {
  const uri = stringField(request.text, request.params, 'uri');
  return uri === undefined ? invalid('"uri" must be a string') : ownedResource(uri, judge);
}

/** The upstream that owns `uri`, if this principal may have it. Denied and not found are one answer. */
export function ownedResource(uri: string, { snapshot, grants }: Pick<Judge, 'snapshot' | 'grants'>): Target | Refusal {
  const upstream = snapshot.ownerOf(uri);
  return upstream === undefined
    ? refusal(missing(uri))
    : judgedResource({ kind: 'resources', upstream, name: uri }, grants);
}

function completion(request: Request, judge: Judge): Target | Refusal {
  const ref = field(request.params, 'ref')?.inner;
  const type = stringField(request.text, ref, 'type');
  if (type === 'ref/prompt') return named(request, 'prompts', judge, ref);
  const uri = stringField(request.text, ref, 'uri');
  if (type !== 'ref/resource' || uri === undefined) return invalid('"ref" must be a ref/prompt or a ref/resource');
  return ownedTemplate(uri, judge);
}

function ownedTemplate(uri: string, judge: Judge): Target | Refusal {
  const upstream = judge.snapshot.templateOwner(uri);
  if (upstream === undefined) return ownedResource(uri, judge);
  return judgedResource({ kind: 'resources', upstream, name: uri, template: true }, judge.grants);
}

function judgedResource(subject: Subject, grants: Grants): Target | Refusal {
  const { upstream, name: uri } = subject;
  const decision = grants.decide(subject);
  if (decision.effect !== 'allow') return denied(missing(uri), decision, upstream);
  return { upstream, uri, rule: decision.rule, failed: decision.failed, subject };
}

function missing(uri: string): WireError {
  return { code: RESOURCE_NOT_FOUND, message: 'Resource not found', data: { uri } };
}

/** A token the gateway cannot read is one it could not replace: the upstream must never see it (MCP 2025-11-25, Progress). */
function metaProblem(request: Request): string | undefined {
  if (field(request.params, '_meta') !== undefined && request.meta === undefined) return '"_meta" must be an object';
  if (field(request.meta, 'progressToken') === undefined || progressToken(request) !== undefined) return undefined;
  return '"progressToken" must be a string or an integer';
}

/** `arguments` must be an object without a key twice at any depth: rules, the audit and the upstream then read the same. */
function argumentsProblem(request: Request): string | undefined {
  const member = field(request.params, 'arguments');
  if (member === undefined) return undefined;
  if (request.text.charCodeAt(member.start) !== 0x7b) return '"arguments" must be an object';
  return repeatsKey(request.text, member.start) ? '"arguments" has a key twice' : undefined;
}

/** Completion carries no `arguments` of the call it helps with: what a rule would read of them is not known. */
function argumentsText(request: Request): { arguments?: { text: string } } {
  if (request.method === 'completion/complete') return {};
  const member = field(request.params, 'arguments');
  return { arguments: { text: member === undefined ? '{}' : request.text.slice(member.start, member.end) } };
}

function invalid(problem: string): Refusal {
  return refusal({ code: INVALID_PARAMS, message: `Invalid params: ${problem}` }, 'invalid');
}

function refusal(error: WireError, rule = 'unknown'): Refusal {
  return { error, denied: false, rule, upstream: undefined };
}

function denied(error: WireError, { rule, failed }: Decision, upstream: string): Refusal {
  return { error, denied: true, rule, failed, upstream };
}
