/** One set of the official scenarios at one revision, and the fixture it is run against. */
export interface Suite {
  /** Of `@modelcontextprotocol/conformance`. */
  readonly version: string;
  readonly revision: '2025-11-25' | '2026-07-28';
  /** How many scenarios the set has: fewer in a run is a failure. */
  readonly scenarios: number;
  /** The SDK of the fixture behind the gateway: 1 speaks the handshake revisions, 2 all. */
  readonly sdk: 1 | 2;
  /** What the set runs and does not score, by the beginning of its names, and why it is not counted here either. */
  readonly uncounted?: { readonly prefix: string; readonly reason: string };
  /** The suite's options for the whole set, and beside `--scenario`. */
  readonly whole: readonly string[];
  readonly single: readonly string[];
}

/** A set, and the fixtures it is run against: where eras differ the gateway translates. */
type ScenarioSet = Omit<Suite, 'sdk'> & { readonly sdks: readonly Suite['sdk'][] };

/** `--suite all` and `--requirements` both include what the suite itself does not score. */
const SETS: readonly ScenarioSet[] = [
  {
    version: '0.1.16',
    revision: '2025-11-25',
    scenarios: 32,
    sdks: [1, 2],
    whole: ['--suite', 'all'],
    single: [],
  },
  {
    version: '0.2.0-alpha.12',
    revision: '2025-11-25',
    scenarios: 33,
    sdks: [1, 2],
    whole: ['--requirements', '2025-11-25'],
    single: ['--spec-version', '2025-11-25', '--force'],
  },
  {
    version: '0.2.0-alpha.12',
    revision: '2026-07-28',
    scenarios: 50,
    sdks: [2],
    uncounted: { prefix: 'tasks-', reason: 'extension of the set, io.modelcontextprotocol/tasks is not announced' },
    whole: ['--requirements', '2026-07-28'],
    single: ['--spec-version', '2026-07-28', '--force'],
  },
];

export const SUITES: readonly Suite[] = SETS.flatMap(({ sdks, ...set }) => sdks.map((sdk) => ({ ...set, sdk })));
