/**
 * Instruments as their users see them: a handle per set of label values, taken once and kept, so that the hot path
 * hashes nothing. Names are without the `mcp_gateway_` prefix. No label value comes from a caller.
 */
export interface Meter {
  counter<N extends keyof Counters>(name: N, labels: Counters[N]): Counter;
  gauge<N extends keyof Gauges>(name: N, labels: Gauges[N]): Gauge;
  histogram<N extends keyof Histograms>(name: N, labels: Histograms[N]): Histogram;
}

export interface Counter {
  add(by?: number): void;
}

export interface Gauge {
  add(by: number): void;
  set(value: number): void;
}

export interface Histogram {
  /** In seconds. */
  observe(seconds: number): void;
}

type None = Record<string, never>;

export interface Counters {
  connections_opened_total: None;
  connections_refused_total: { reason: string };
  connections_closed_total: { code: string; by: 'client' | 'gateway' };
  requests_total: { method: string; upstream: string; outcome: Outcome };
  messages_total: { direction: Direction };
  bytes_total: { direction: Direction };
  frames_dropped_total: { kind: string };
  upstream_restarts_total: { upstream: string };
  list_changes_total: { kind: ListKind; stage: 'heard' | 'walked' | 'changed' | 'told' };
  bus_gaps_total: None;
  bus_entries_total: { stage: 'published' | 'received' | 'refused' | 'lost' };
  auth_total: { issuer: string; outcome: 'accepted' | 'refused' | 'unavailable'; reason: string };
  /** Of messages over `limits.requestsPerSecond`. */
  messages_refused_total: { kind: 'request' | 'notification' | 'malformed' };
  tickets_total: { outcome: 'issued' | 'refused' };
  /** `published`, or why not. */
  admin_requests_total: { outcome: string };
  policy_errors_total: { effect: 'allow' | 'deny' };
  /** An answer to an id nobody waits for, by where it came from; `noise` is a line that is not JSON-RPC. */
  unexpected_answers_total: { source: 'client' | 'upstream'; kind: 'late' | 'unknown' | 'noise' };
  audit_dropped_total: None;
}

export interface Gauges {
  connections: None;
  inflight_requests: None;
  outbox_bytes: None;
  upstream_up: { upstream: string };
  links: { upstream: string; isolation: 'session' | 'shared' };
  children: { upstream: string };
  /** Of all upstreams together, and only those that `limits.children` counts. */
  session_children: None;
  catalogue_items: { kind: ItemKind; upstream: string };
  /** 1 also where there is no bus. */
  bus_up: None;
  /** Seconds since the epoch; 0 before the first time. Only of issuers whose keys are fetched. */
  keys_fetched_timestamp_seconds: { issuer: string };
  keys_max_age_seconds: { issuer: string };
  keys_last_fetch_successful: { issuer: string };
  /** Seconds since the epoch; 0 without TLS. */
  tls_certificate_not_before_seconds: None;
  tls_certificate_not_after_seconds: None;
  /** What the configuration sets, set once: so that an alert needs no number of its own. */
  limit: { limit_name: string };
  upstream_timeout_seconds: { upstream: string };
}

export interface Histograms {
  upgrade_duration_seconds: { outcome: 'accepted' | 'refused' };
  request_duration_seconds: { method: string; upstream: string };
  /** Our share of a relayed call: from frame read to frame queued, less the time the upstream had it. */
  overhead_seconds: None;
}

export type Outcome =
  | 'ok'
  | 'tool_error'
  | 'error'
  | 'denied'
  | 'cancelled'
  | 'timeout'
  | 'failed'
  /** Answered with questions; the request that brings the answers is counted by itself. */
  | 'input_required';
/** As the gateway sees the client: `in` is read from a socket, `out` is queued to one. */
export type Direction = 'in' | 'out';
export type ListKind = 'tools' | 'resources' | 'prompts';
export type ItemKind = ListKind | 'templates';
