import type { Counters, Gauges, Histograms } from '../ports/meter.ts';

/** What every public name begins with; the names below are without it. */
export const PREFIX = 'mcp_gateway_';

const UPGRADE = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const REQUEST = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];
const OVERHEAD = [1e-5, 2.5e-5, 5e-5, 1e-4, 2.5e-4, 5e-4, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1];

/** Every order in which a union's members can be written down, so that a row neither lacks nor invents a label. */
type Orders<K, All = K> = [K] extends [never] ? [] : K extends All ? [K, ...Orders<Exclude<All, K>>] : never;
type LabelsOf<L> = string extends keyof L ? readonly [] : Readonly<Orders<keyof L>>;

interface Row<Kind, L> {
  readonly kind: Kind;
  readonly help: string;
  readonly labels: LabelsOf<L>;
}

/** A constant 1 whose labels say what is running. */
export interface Infos {
  config_hash_info: { hash: string };
  build_info: { version: string; node: string };
}

type Table = { readonly [N in keyof Counters]: Row<'counter', Counters[N]> } & {
  readonly [N in keyof Gauges]: Row<'gauge', Gauges[N]>;
} & {
  readonly [N in keyof Histograms]: Row<'histogram', Histograms[N]> & { readonly buckets: readonly number[] };
} & { readonly [N in keyof Infos]: Row<'info', Infos[N]> };

/**
 * Every instrument, in the order docs/metrics.md has them; `help` is the sentence both show. Buckets are upper bounds
 * in seconds, ascending. No label value comes from a caller: what is not known at start is counted as `other`.
 */
export const INSTRUMENTS: Table = {
  connections: { kind: 'gauge', labels: [], help: 'Open client connections.' },
  connections_opened_total: { kind: 'counter', labels: [], help: 'Connections accepted and given a session.' },
  connections_refused_total: {
    kind: 'counter',
    labels: ['reason'],
    help: 'Connections and upgrades refused, by reason.',
  },
  connections_closed_total: {
    kind: 'counter',
    labels: ['code', 'by'],
    help: 'Connections ended, by close code and by who ended them.',
  },
  upgrade_duration_seconds: {
    kind: 'histogram',
    labels: ['outcome'],
    buckets: UPGRADE,
    help: 'From the request for an upgrade to its answer.',
  },
  requests_total: {
    kind: 'counter',
    labels: ['method', 'upstream', 'outcome'],
    help: 'Requests of clients that have ended, by how they ended.',
  },
  request_duration_seconds: {
    kind: 'histogram',
    labels: ['method', 'upstream'],
    buckets: REQUEST,
    help: 'From a request read to its answer queued.',
  },
  overhead_seconds: {
    kind: 'histogram',
    labels: [],
    buckets: OVERHEAD,
    help: "The gateway's own share of a relayed call: its duration less the time the upstream had it.",
  },
  inflight_requests: { kind: 'gauge', labels: [], help: 'Requests of clients not yet answered.' },
  messages_total: {
    kind: 'counter',
    labels: ['direction'],
    help: 'Messages read from clients (in) and queued to them (out).',
  },
  bytes_total: {
    kind: 'counter',
    labels: ['direction'],
    help: 'Bytes of messages read from clients (in) and queued to them (out).',
  },
  messages_refused_total: {
    kind: 'counter',
    labels: ['kind'],
    help: 'Messages of clients over their rate: requests refused, others dropped, by kind.',
  },
  outbox_bytes: {
    kind: 'gauge',
    labels: [],
    help: 'Bytes waiting for all clients: queued and not taken, held back for a batch, or kept for a client that is to come back.',
  },
  frames_dropped_total: {
    kind: 'counter',
    labels: ['kind'],
    help: 'Frames not sent because the outbox was full, by kind.',
  },
  upstream_up: { kind: 'gauge', labels: ['upstream'], help: '1 while the upstream answers, 0 while it does not.' },
  upstream_restarts_total: {
    kind: 'counter',
    labels: ['upstream'],
    help: 'Times an upstream was connected anew after it had been lost.',
  },
  links: { kind: 'gauge', labels: ['upstream', 'isolation'], help: 'Live connections to the upstream.' },
  children: {
    kind: 'gauge',
    labels: ['upstream'],
    help: 'Running child processes of the upstream, those for lists and shared ones included.',
  },
  session_children: {
    kind: 'gauge',
    labels: [],
    help: 'Child processes of sessions, those starting and ending included: what limits.children bounds.',
  },
  catalogue_items: {
    kind: 'gauge',
    labels: ['kind', 'upstream'],
    help: 'Tools, resources, resource templates and prompts listed.',
  },
  list_changes_total: {
    kind: 'counter',
    labels: ['kind', 'stage'],
    help: 'List changes heard from upstreams, walks they caused, walks that found a difference, sessions told.',
  },
  bus_up: {
    kind: 'gauge',
    labels: [],
    help: '1 while the other replicas can be reached, 0 while they cannot; 1 where no bus is configured.',
  },
  bus_gaps_total: {
    kind: 'counter',
    labels: [],
    help: 'Times changes of other replicas may have been missed, so that everything was listed anew.',
  },
  bus_entries_total: {
    kind: 'counter',
    labels: ['stage'],
    help: 'Changes on the bus: published, received from other replicas, refused as not ours, lost before they were published.',
  },
  auth_total: {
    kind: 'counter',
    labels: ['issuer', 'outcome', 'reason'],
    help: 'Tokens, tickets and client certificates judged, by issuer, outcome and reason.',
  },
  tickets_total: {
    kind: 'counter',
    labels: ['outcome'],
    help: 'One-time tickets asked for, by outcome.',
  },
  admin_requests_total: {
    kind: 'counter',
    labels: ['outcome'],
    help: 'Requests to publish a change from outside, by outcome.',
  },
  keys_fetched_timestamp_seconds: {
    kind: 'gauge',
    labels: ['issuer'],
    help: 'When the keys of the issuer were last fetched, in seconds since the epoch; 0 before the first time.',
  },
  keys_max_age_seconds: {
    kind: 'gauge',
    labels: ['issuer'],
    help: 'From what age keys of the issuer are fetched anew before they are used: its cacheMaxAge.',
  },
  keys_last_fetch_successful: {
    kind: 'gauge',
    labels: ['issuer'],
    help: '0 where the last attempt to fetch the keys of the issuer failed, else 1.',
  },
  tls_certificate_not_before_seconds: {
    kind: 'gauge',
    labels: [],
    help: 'When the certificate of the listeners began, in seconds since the epoch; 0 without TLS.',
  },
  tls_certificate_not_after_seconds: {
    kind: 'gauge',
    labels: [],
    help: 'When the certificate of the listeners ends, in seconds since the epoch; 0 without TLS.',
  },
  policy_errors_total: {
    kind: 'counter',
    labels: ['effect'],
    help: 'Policy conditions that failed to evaluate, by the effect of their rule.',
  },
  unexpected_answers_total: {
    kind: 'counter',
    labels: ['source', 'kind'],
    help: 'Answers nobody waited for, and lines that were no JSON-RPC.',
  },
  audit_dropped_total: { kind: 'counter', labels: [], help: 'Audit events lost because the sink was slow or failing.' },
  limit: {
    kind: 'gauge',
    labels: ['limit_name'],
    help: 'What the configuration allows, by its key under limits; sizes in bytes. None where there is no limit.',
  },
  upstream_timeout_seconds: {
    kind: 'gauge',
    labels: ['upstream'],
    help: 'How long a request to the upstream may take without progress: its timeout.',
  },
  config_hash_info: { kind: 'info', labels: ['hash'], help: 'Always 1; the hash of the configuration in force.' },
  build_info: { kind: 'info', labels: ['version', 'node'], help: 'Always 1; the versions of the gateway and of Node.' },
};
