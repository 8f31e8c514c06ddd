import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import WebSocket from 'ws';

/** A real browser without a window, spoken to by the Chrome DevTools Protocol. It reaches nothing but 127.0.0.1. */
export interface Browser {
  /** A page at an origin of its own. */
  page(): Promise<Page>;
}

export interface Page {
  readonly origin: string;
  /** What the body of an async function gives that runs in the page; `given` is its argument. Rejects where it throws. */
  run(body: string, given?: unknown): Promise<unknown>;
}

const FLAGS = [
  '--headless=new',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--no-first-run',
  '--remote-debugging-port=0',
  '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1',
];
const STARTING_MS = 60_000;

/** One browser for all tests of a file; it must be installed as `chromium`, or be named by CHROMIUM. */
export function fileBrowser(): () => Browser {
  let browser: Browser | undefined;
  let close = async () => {};
  beforeAll(async () => {
    const started = await start();
    close = started.close;
    browser = started.browser;
  }, STARTING_MS);
  afterAll(() => close());
  return () => {
    if (browser === undefined) throw new Error('the browser has not started');
    return browser;
  };
}

type Child = ChildProcessByStdio<null, null, Readable>;

async function start(): Promise<{ readonly browser: Browser; readonly close: () => Promise<void> }> {
  const profile = mkdtempSync(join(tmpdir(), 'gateway-chromium-'));
  const flags = [...FLAGS, `--user-data-dir=${profile}`, 'about:blank'];
  // A process group of its own: a browser is many processes.
  const child = spawn(process.env.CHROMIUM ?? 'chromium', flags, {
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(child, 'close');
  const commands = await devTools(child);
  const close = async () => {
    commands.close();
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    await ended;
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  };
  return { browser: { page: () => openPage(commands) }, close };
}

async function devTools(child: Child): Promise<Commands> {
  const url = await new Promise<string>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => reject(new Error(`the browser ended with ${code}`)));
    createInterface({ input: child.stderr }).on('line', (line) => {
      const [, found] = /^DevTools listening on (ws:\S+)$/.exec(line) ?? [];
      if (found !== undefined) resolve(found);
    });
  });
  const socket = new WebSocket(url);
  await once(socket, 'open');
  return new Commands(socket);
}

type Answer = Readonly<Record<string, unknown>>;

/** The protocol's requests and answers; its events are not listened to. */
class Commands {
  private readonly socket: WebSocket;
  private readonly waiting = new Map<unknown, (answer: Answer) => void>();
  private last = 0;

  constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (data) => {
      const answer: Answer = JSON.parse(String(data));
      this.waiting.get(answer.id)?.(answer);
      this.waiting.delete(answer.id);
    });
  }

  async send(method: string, params: object, sessionId?: string): Promise<Answer> {
    this.last += 1;
    const id = this.last;
    const answered = new Promise<Answer>((resolve) => this.waiting.set(id, resolve));
    this.socket.send(JSON.stringify({ id, method, params, sessionId }));
    const { result, error } = await answered;
    if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
    return Object(result);
  }

  close(): void {
    this.socket.terminate();
  }
}

async function openPage(commands: Commands): Promise<Page> {
  const server = createServer((_request, response) =>
    response.setHeader('content-type', 'text/html').end('<!doctype html>'),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const address = server.address();
  const origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  const { targetId } = await commands.send('Target.createTarget', { url: 'about:blank' });
  onTestFinished(async () => void (await commands.send('Target.closeTarget', { targetId })));
  const { sessionId } = await commands.send('Target.attachToTarget', { targetId, flatten: true });
  const own = String(sessionId);
  await commands.send('Page.navigate', { url: origin }, own);
  return { origin, run: (body, given) => evaluate(commands, own, origin, body, given) };
}

/** The navigation may not be over: until it is, the page is another one. */
async function evaluate(
  commands: Commands,
  session: string,
  origin: string,
  body: string,
  given: unknown,
): Promise<unknown> {
  const call = `location.origin === ${JSON.stringify(origin)} ? (async (given) => {${body}})(${JSON.stringify(given)}) : 'not yet'`;
  const params = { expression: call, awaitPromise: true, returnByValue: true };
  const { result, exceptionDetails } = await commands.send('Runtime.evaluate', params, session);
  if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails));
  const value: unknown = Object(result).value;
  return value === 'not yet' ? evaluate(commands, session, origin, body, given) : value;
}
