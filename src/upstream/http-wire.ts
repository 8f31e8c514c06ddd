import http, { type ClientRequest, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import { urlToHttpOptions } from 'node:url';
import type { Cancel, Clock } from '../ports/clock.ts';

/** HTTP requests to one URL over their own pool of sockets. No redirect is followed and no time-out hides in it, except for connecting. */
export interface Wire {
  /** Starts a request; the returned function ends it, its answer included, after which nothing more is heard of it. */
  request(outgoing: Outgoing, heard: Heard): () => void;
  /** Bytes of bodies that have not gone out whole. */
  readonly backlog: number;
  /** Of these, the ones whose connection has not come about. */
  readonly unconnected: number;
  /** Stops reading every answer until `resume`; what peers send meanwhile waits in their sockets. */
  pause(): void;
  resume(): void;
  /** Ends every socket. */
  destroy(): void;
}

export interface Outgoing {
  readonly method: 'POST' | 'GET' | 'DELETE';
  readonly headers: OutgoingHttpHeaders;
  readonly body?: string;
}

/** One of the two is called, once. */
export interface Heard {
  /** Headers are in. Whoever hears this reads the body to its end or destroys it. */
  response(answer: IncomingMessage): void;
  failed(failure: WireFailure): void;
}

export interface WireFailure {
  readonly cause: Error;
  /** Not even a connection came about: nobody is there. */
  readonly unreachable: boolean;
  /** The whole request had left, so the server may have acted on it. */
  readonly sent: boolean;
}

/**
 * Idle sockets are let go before the five seconds after which Node and uvicorn servers close theirs: a POST that meets
 * such a close fails and cannot be repeated safely (RFC 9110 section 9.2.2).
 */
const IDLE_SOCKET_MS = 4_000;
/** TCP probes on sockets whose stream may say nothing for hours. */
const TCP_PROBE_MS = 30_000;

/** Throws a TypeError when `url` is no http or https URL. Opens nothing until the first request. */
export function openWire(url: string, connectMs: number, clock: Clock): Wire {
  const target = new URL(url);
  if (target.protocol !== 'http:' && target.protocol !== 'https:') throw new TypeError('not an http or https URL');
  const secure = target.protocol === 'https:';
  const agent = new (secure ? https : http).Agent({
    keepAlive: true,
    keepAliveMsecs: TCP_PROBE_MS,
    timeout: IDLE_SOCKET_MS,
  });
  const to = { ...urlToHttpOptions(target), agent };
  const start = secure ? https.request : http.request;
  const reading = new Set<IncomingMessage>();
  let paused = false;
  let backlog = 0;
  let unconnected = 0;

  const track = (answer: IncomingMessage): void => {
    reading.add(answer);
    // An answer cut off says so by `close` without `end`; its error adds nothing.
    answer.on('error', ignore);
    answer.on('close', () => reading.delete(answer));
    if (paused) answer.pause();
  };

  /** A request is closed whatever becomes of it. */
  const count = (request: ClientRequest, body: string): void => {
    let left = Buffer.byteLength(body);
    let waiting = left;
    const connected = () => {
      unconnected -= waiting;
      waiting = 0;
    };
    const gone = () => {
      connected();
      backlog -= left;
      left = 0;
    };
    backlog += left;
    unconnected += left;
    request.on('socket', (socket) => {
      if (socket.connecting) socket.once(secure ? 'secureConnect' : 'connect', connected);
      else connected();
    });
    request.on('finish', gone);
    request.on('close', gone);
  };

  return {
    get backlog() {
      return backlog;
    },
    get unconnected() {
      return unconnected;
    },
    request({ method, headers, body }, heard) {
      let over = false;
      const request = start({ ...to, method, headers });
      request.on('socket', (socket) => limitConnecting(socket, secure, connectMs, clock));
      request.on('response', (answer) => {
        track(answer);
        if (over) return void answer.destroy();
        over = true;
        heard.response(answer);
      });
      request.on('error', (cause) => {
        if (over) return;
        over = true;
        heard.failed({ cause, unreachable: isUnreachable(cause), sent: request.writableFinished });
      });
      if (body !== undefined) count(request, body);
      request.end(body);
      return () => {
        over = true;
        request.destroy();
      };
    },
    pause() {
      paused = true;
      for (const answer of reading) answer.pause();
    },
    resume() {
      paused = false;
      for (const answer of reading) answer.resume();
    },
    destroy() {
      agent.destroy();
    },
  };
}

function limitConnecting(socket: Socket, secure: boolean, ms: number, clock: Clock): void {
  if (!socket.connecting) return;
  const timeout = new Error(`no connection within ${ms} ms`);
  const cancel: Cancel = clock.after(ms, () => socket.destroy(Object.assign(timeout, { syscall: 'connect' })));
  socket.once(secure ? 'secureConnect' : 'connect', cancel);
  socket.once('close', cancel);
}

/** Refused, unroutable, unknown name, connecting timed out: each is an error of one of these two system calls. */
function isUnreachable(cause: NodeJS.ErrnoException): boolean {
  return cause.syscall === 'connect' || cause.syscall === 'getaddrinfo';
}

function ignore(): void {}
