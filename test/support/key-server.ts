import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JWK } from 'jose';

export interface KeyServer {
  /** Of the server; with `/realms/x` appended an issuer with a path is served too. */
  readonly origin: string;
  readonly jwksUri: string;
  /** Requests for the key set so far, answered or not. */
  readonly fetches: () => number;
  /** Paths asked for, in order. */
  readonly paths: () => readonly string[];
  /** Serves these keys from now on. */
  rotate(keys: readonly JWK[]): void;
  /** Serves these documents by path beside the key set. */
  documents(byPath: Readonly<Record<string, unknown>>): void;
  /** Accepts requests and leaves them unanswered until `release`. */
  stall(): void;
  release(): void;
  /** Answers the key set with this status (and a Location, for a redirect) until `recover`. */
  fail(status: number, location?: string): void;
  /** Answers the key set with this text until `recover`. */
  answer(text: string): void;
  recover(): void;
  close(): Promise<void>;
}

type Fault = { readonly status: number; readonly location: string | undefined } | { readonly text: string };

/** A real key server on 127.0.0.1 that misbehaves on command. */
export async function startKeyServer(keys: readonly JWK[] = []): Promise<KeyServer> {
  const paths: string[] = [];
  const state: State = { keys, documents: {}, fault: undefined, gate: Promise.resolve() };
  let release = (): void => undefined;
  const server = createServer((request, response) => {
    paths.push(request.url ?? '');
    void state.gate.then(() => serve(request, response, state));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${port(server.address())}`;
  return {
    origin,
    jwksUri: `${origin}/jwks`,
    fetches: () => paths.filter((path) => path === '/jwks').length,
    paths: () => paths,
    rotate: (next) => {
      state.keys = next;
    },
    documents: (byPath) => {
      state.documents = byPath;
    },
    stall: () => {
      state.gate = new Promise((resolve) => {
        release = resolve;
      });
    },
    release: () => {
      state.gate = Promise.resolve();
      release();
    },
    fail: (status, location) => {
      state.fault = { status, location };
    },
    answer: (text) => {
      state.fault = { text };
    },
    recover: () => {
      state.fault = undefined;
    },
    close: async () => {
      release();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface State {
  keys: readonly JWK[];
  documents: Readonly<Record<string, unknown>>;
  fault: Fault | undefined;
  gate: Promise<void>;
}

function serve(request: IncomingMessage, response: ServerResponse, state: State): void {
  const path = request.url ?? '';
  const { fault } = state;
  if (path !== '/jwks') document(response, state.documents[path]);
  else if (fault === undefined) json(response, JSON.stringify({ keys: state.keys }));
  else if ('text' in fault) json(response, fault.text);
  else response.writeHead(fault.status, fault.location === undefined ? {} : { location: fault.location }).end();
}

function document(response: ServerResponse, value: unknown): void {
  if (value === undefined) response.writeHead(404).end();
  else json(response, JSON.stringify(value));
}

function json(response: ServerResponse, text: string): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(text);
}

function port(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new Error('The key server does not listen on a port');
  return address.port;
}
