import { type OutgoingHttpHeaders, validateHeaderName, validateHeaderValue } from 'node:http';

/** Visible ASCII (MCP 2025-11-25, transports, session management), of a bounded length. */
const SESSION_ID = /^[\x21-\x7e]{1,1024}$/;

/** What the requests of one call say in their headers. */
export interface CallHeaders {
  /** The MCP session the call belongs to, where there are sessions. */
  readonly session?: string | undefined;
  post(): OutgoingHttpHeaders;
  /** For the stream after `lastEventId`. Absent where no stream can be resumed (MCP 2026-07-28, transports). */
  get?(lastEventId: string): OutgoingHttpHeaders;
}

/** The headers of every request of one channel; what `initialize` settles joins them. Configured ones give way to the protocol's. */
export class HttpHeaders implements CallHeaders {
  readonly #configured: Readonly<Record<string, string>>;
  #session: string | undefined;
  #version: string | undefined;
  #post: OutgoingHttpHeaders;

  /** Throws a TypeError that names a header which cannot be sent, never its value. */
  constructor(configured: Readonly<Record<string, string>>) {
    for (const [name, value] of Object.entries(configured)) {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    }
    this.#configured = configured;
    this.#post = this.#build();
  }

  get session(): string | undefined {
    return this.#session;
  }

  /** False when the server names a session in a way it may not. */
  startSession(id: string | string[] | undefined): boolean {
    if (id === undefined) return true;
    if (typeof id !== 'string' || !SESSION_ID.test(id)) return false;
    this.#session = id;
    this.#post = this.#build();
    return true;
  }

  useVersion(version: string | undefined): void {
    this.#version = version;
    this.#post = this.#build();
  }

  post(): OutgoingHttpHeaders {
    return this.#post;
  }

  get(lastEventId: string | undefined): OutgoingHttpHeaders {
    const resume = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
    return { ...this.#plain(), accept: 'text/event-stream', ...resume };
  }

  delete(): OutgoingHttpHeaders {
    return this.#plain();
  }

  #build(): OutgoingHttpHeaders {
    return { ...this.#plain(), accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
  }

  #plain(): OutgoingHttpHeaders {
    return {
      'user-agent': 'mcp-ws-gateway',
      ...this.#configured,
      'accept-encoding': 'identity',
      ...(this.#session === undefined ? {} : { 'mcp-session-id': this.#session }),
      ...(this.#version === undefined ? {} : { 'mcp-protocol-version': this.#version }),
    };
  }
}
