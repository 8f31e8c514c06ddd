import type { Suite } from './suites.ts';

/** Checks of a scenario that fail because of what the scenario is, not of the fixture or the gateway. */
export interface ExpectedFailure {
  readonly scenario: string;
  /** Where they fail. */
  readonly revision: Suite['revision'];
  /** Ids of the checks. Any other failing check of the scenario is a failure; one of these that passes is stale. */
  readonly checks: readonly string[];
  /** The clause that makes it about HTTP, or the bug of the suite. */
  readonly reason: string;
}

/** At most this many. */
export const MOST_EXPECTED = 8;

export const EXPECTED_FAILURES: readonly ExpectedFailure[] = [
  {
    scenario: 'server-sse-polling',
    revision: '2025-11-25',
    checks: ['server-sse-priming-event', 'server-sse-retry-field'],
    reason:
      'MCP 2025-11-25, transports, Streamable HTTP, sending messages to the server, 6: event ids and `retry` of an SSE stream; a WebSocket has neither',
  },
  {
    scenario: 'http-custom-header-server-validation',
    revision: '2026-07-28',
    checks: [
      'sep-2243-server-validate-param-match',
      'sep-2243-server-reject-invalid-param-chars',
      'sep-2243-server-reject-param-mismatch',
    ],
    reason:
      'MCP 2026-07-28, transports, Streamable HTTP, custom headers from tool parameters (SEP-2243): `Mcp-Param-*` of a POST; a WebSocket frame has no headers',
  },
];
