/** One set of the official scenarios at one revision. */
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
  /** False while the gateway does not speak the revision: the row says so and nothing is run unless asked for. */
  readonly served: boolean;
}

/** `--suite all` and `--requirements` both include what the suite itself does not score. */
export const SUITES: readonly Suite[] = [
  {
    version: '0.1.16',
    revision: '2025-11-25',
    scenarios: 32,
    sdk: 1,
    whole: ['--suite', 'all'],
    single: [],
    served: true,
  },
  {
    version: '0.2.0-alpha.12',
    revision: '2025-11-25',
    scenarios: 33,
    sdk: 1,
    whole: ['--requirements', '2025-11-25'],
    single: ['--spec-version', '2025-11-25', '--force'],
    served: true,
  },
  {
    version: '0.2.0-alpha.12',
    revision: '2026-07-28',
    scenarios: 50,
    sdk: 2,
    uncounted: { prefix: 'tasks-', reason: 'extension of the set, io.modelcontextprotocol/tasks is not announced' },
    whole: ['--requirements', '2026-07-28'],
    single: ['--spec-version', '2026-07-28', '--force'],
    served: false,
  },
];
