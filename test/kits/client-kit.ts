import { Client as Client2 } from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import type * as ClientModule from '../../src/client/index.ts';
import { startGateway, stdioUpstream } from '../support/gateway.ts';
import { rawServer } from '../support/raw-server.ts';
import { makeIssuer } from '../support/tokens.ts';

type Options = ClientModule.WebSocketClientOptions;
type Transport = InstanceType<typeof ClientModule.WebSocketClientTransport>;

/** What a transport said, in order: a message's text, `error`, `close`. */
interface Heard {
  readonly transport: Transport;
  readonly said: string[];
  readonly errors: Error[];
}

/** What `mcp-ws-gateway/client` owes whoever imports it. `load` brings it from where it is to be judged. */
export function clientKit(load: () => Promise<Pick<typeof ClientModule, 'WebSocketClientTransport'>>): void {
  const make = async (options: Options): Promise<Heard> => {
    const { WebSocketClientTransport } = await load();
    const transport = new WebSocketClientTransport(options);
    const said: string[] = [];
    const errors: Error[] = [];
    transport.onmessage = (message) => said.push(JSON.stringify(message));
    transport.onclose = () => said.push('close');
    transport.onerror = (error) => {
      said.push('error');
      errors.push(error);
    };
    onTestFinished(() => transport.close());
    return { transport, said, errors };
  };
  const open = async (options: Partial<Options> = {}, server = rawServer()) => {
    const { url, accept } = await server;
    const heard = await make({ url, ...options });
    await heard.transport.start();
    return { ...heard, peer: await accept() };
  };

  describe('opening', () => {
    it('offers mcp and carries the token as it is told, asked for once', async () => {
      let asked = 0;
      const token = async () => `secret-${++asked}`;
      const header = await open({ token, headers: { 'x-team': 'blue' } });
      expect(header.peer.request.headers).toMatchObject({
        authorization: 'Bearer secret-1',
        'sec-websocket-protocol': 'mcp',
        'x-team': 'blue',
      });
      const subprotocol = await open({ token: 'a.b-c_d', carriage: 'subprotocol' });
      expect(subprotocol.peer.request.headers['sec-websocket-protocol']).toBe('mcp,mcp.auth.a.b-c_d');
      expect(subprotocol.peer.request.headers.authorization).toBeUndefined();
      const ticket = await open({ token: async () => 'a_b-c', carriage: 'ticket' });
      expect(ticket.peer.request.url).toBe('/mcp?ticket=a_b-c');
      expect(ticket.peer.request.headers).toMatchObject({ 'sec-websocket-protocol': 'mcp' });
      expect(ticket.peer.request.headers.authorization).toBeUndefined();
      expect(asked).toBe(1);
    });

    it('delivers what the server sent with the opening', async () => {
      const greeting = [note(1), note(2), note(3)];
      const { said } = await open({}, rawServer({ greeting }));
      await expect.poll(() => said).toEqual(greeting);
    });

    it('rejects a refused upgrade with its status and ends, once', async () => {
      const headers = { 'www-authenticate': 'Bearer resource_metadata="https://h/r"', 'retry-after': '7' };
      const { url } = await rawServer({ refuse: { status: 401, headers } });
      const { transport, said } = await make({ url, token: 'topsecret' });
      const error: unknown = await transport.start().catch((cause: unknown) => cause);
      expect(error).toMatchObject({
        name: 'UpgradeRefusedError',
        message: 'the upgrade was refused: HTTP 401',
        status: 401,
        challenge: headers['www-authenticate'],
        retryAfterMs: 7000,
      });
      await transport.close();
      expect(said).toEqual(['close']);
    });

    it('rejects when nobody is there, when there is no token, and when the token cannot be carried', async () => {
      const nobody = await make({ url: 'ws://127.0.0.1:1/mcp' });
      await expect(nobody.transport.start()).rejects.toThrow('ECONNREFUSED');
      const none = await make({ url: 'ws://127.0.0.1:1/mcp', token: () => Promise.reject(new Error('no token')) });
      await expect(none.transport.start()).rejects.toThrow('no token');
      const odd = await make({ url: 'ws://127.0.0.1:1/mcp', token: 'a\r\nb: c' });
      await expect(odd.transport.start()).rejects.toThrow('the token holds what a header cannot carry');
      expect([nobody.said, none.said, odd.said]).toEqual([['close'], ['close'], ['close']]);
    });

    it('starts once', async () => {
      const { transport } = await open();
      await expect(transport.start()).rejects.toThrow('starts once');
    });

    it('refuses a URL that is none of its schemes', async () => {
      await expect(make({ url: 'http://127.0.0.1/mcp' })).rejects.toThrow(TypeError);
    });
  });

  describe('messages', () => {
    it('keep their order both ways', async () => {
      const { transport, said, peer } = await open();
      const sent = Array.from({ length: 500 }, (_, n) => note(n));
      for (const text of sent) peer.socket.send(text);
      await Promise.all(sent.map((text) => transport.send(JSON.parse(text))));
      for (const text of sent) expect(await peer.next()).toBe(text);
      await expect.poll(() => said.length).toBe(500);
      expect(said).toEqual(sent);
    });

    it('arrive whole, large ones and every character', async () => {
      const { transport, said, peer } = await open();
      const text = `tab\t nul\u0000 ls\u2028 😀 \ud800 ${'ä'.repeat(1_500_000)}`;
      const message = { jsonrpc: '2.0', method: 'large', params: { text } } as const;
      await transport.send(message);
      const arrived = await peer.next();
      expect(arrived === JSON.stringify(message)).toBe(true);
      peer.socket.send(arrived);
      await expect.poll(() => said[0] === arrived).toBe(true);
    });

    it('that are malformed, binary or over-long are told to onerror, and the next one is delivered', async () => {
      const { transport, said, errors, peer } = await open({ maxMessage: 100 });
      for (const text of ['not json', '{"jsonrpc":"1.0","method":"a"}', '{"jsonrpc":"2.0"}', '[]', '7'])
        peer.socket.send(text);
      peer.socket.send(Buffer.from(note(0)), { binary: true });
      peer.socket.send(JSON.stringify({ jsonrpc: '2.0', method: 'long', params: { text: 'x'.repeat(100) } }));
      peer.socket.send(note(1));
      await expect.poll(() => said.at(-1)).toBe(note(1));
      expect(said).toEqual([...Array.from({ length: 7 }, () => 'error'), note(1)]);
      expect(errors.slice(-2).map(({ message }) => message)).toEqual([
        'a binary message was dropped',
        'a message of 154 bytes was dropped: too large',
      ]);
      await transport.send(JSON.parse(note(2)));
      expect(await peer.next()).toBe(note(2));
    });

    it('of four times the limit end the connection', async () => {
      const { transport, said, peer } = await open({ maxMessage: 100 });
      peer.socket.send('x'.repeat(401));
      await expect.poll(() => said).toEqual(['error', 'close']);
      expect(transport.closed?.code).toBe(1006);
    });

    it('of a batch are delivered one by one', async () => {
      const { said, peer } = await open();
      peer.socket.send(`[${note(1)},{"jsonrpc":"2.0","id":1,"result":{}}]`);
      await expect.poll(() => said).toEqual([note(1), '{"jsonrpc":"2.0","id":1,"result":{}}']);
    });

    it('survive a callback that throws', async () => {
      const { transport, said, errors, peer } = await open();
      const { onmessage } = transport;
      transport.onmessage = () => {
        transport.onmessage = onmessage;
        throw new Error('mine');
      };
      peer.socket.send(note(1));
      peer.socket.send(note(2));
      await expect.poll(() => said).toEqual(['error', note(2)]);
      expect(errors[0]?.message).toBe('mine');
    });

    it('that cannot be delivered reject', async () => {
      const { url } = await rawServer();
      const early = await make({ url });
      await expect(early.transport.send(JSON.parse(note(1)))).rejects.toThrow('not connected');
      const { transport, said, peer } = await open();
      await expect(transport.send({ jsonrpc: '2.0', method: 'a', params: { n: 1n } })).rejects.toThrow(TypeError);
      peer.socket.terminate();
      await expect.poll(() => said).toEqual(['close']);
      await expect(transport.send(JSON.parse(note(1)))).rejects.toThrow('not connected');
    });
  });

  describe('ending', () => {
    it('by its owner says goodbye once, however often it is asked to', async () => {
      const { transport, said, peer } = await open();
      const goodbye = new Promise((resolve) => peer.socket.once('close', resolve));
      await Promise.all([transport.close(), transport.close()]);
      await transport.close();
      expect(await goodbye).toBe(1000);
      expect(said).toEqual(['close']);
      expect(transport.closed).toEqual({ code: 1000, reason: '' });
    });

    it('delivers nothing after its owner closed it', async () => {
      const { transport, said, peer } = await open();
      for (let n = 0; n < 50; n += 1) peer.socket.send(note(n));
      await transport.close();
      expect(said).toEqual(['close']);
    });

    it('by the server tells its code, reason and hint', async () => {
      const { transport, said, peer } = await open();
      peer.socket.send(note(1));
      peer.socket.close(4429, 'too_many retry=1500');
      await expect.poll(() => said).toEqual([note(1), 'close']);
      expect(transport.closed).toEqual({ code: 4429, reason: 'too_many retry=1500', retryAfterMs: 1500 });
      await transport.close();
      expect(said).toEqual([note(1), 'close']);
    });

    it('by a cut connection is 1006', async () => {
      const { transport, said, peer } = await open();
      peer.socket.terminate();
      await expect.poll(() => said).toEqual(['close']);
      expect(transport.closed).toEqual({ code: 1006, reason: '' });
    });

    it('by a peer that stops answering pings', async () => {
      const heartbeat = { pingInterval: 20, pongTimeout: 20 };
      const { said, errors } = await open({ heartbeat }, rawServer({ autoPong: false }));
      await expect.poll(() => said).toEqual(['error', 'close']);
      expect(errors[0]?.message).toBe('the peer has stopped answering pings');
    });

    it('does not come while pings are answered', async () => {
      const { said, peer } = await open({ heartbeat: { pingInterval: 10, pongTimeout: 100 } });
      let pings = 0;
      peer.socket.on('ping', () => {
        pings += 1;
      });
      await expect.poll(() => pings).toBeGreaterThan(3);
      expect(said).toEqual([]);
    });

    it('before or while it opens leaves nothing behind', async () => {
      const { url } = await rawServer();
      const never = await make({ url });
      await never.transport.close();
      await expect(never.transport.start()).rejects.toThrow('starts once');
      for (const token of ['t', () => new Promise<string>(() => {})]) {
        const early = await make({ url, token });
        const starting = early.transport.start();
        await Promise.all([early.transport.close(), expect(starting).rejects.toThrow('was closed')]);
        expect(early.said).toEqual(['close']);
      }
      expect(never.said).toEqual(['close']);
    });
  });

  describe.each([
    ['SDK 1.x', sdk1],
    ['SDK 2.x', sdk2],
  ] as const)('under a client of %s', (_name, connect) => {
    const gateway = async (more: object = {}) => {
      const found = await startGateway({ mcpServers: { up: stdioUpstream('fixture.mjs') }, ...more });
      await found.ready();
      return found;
    };

    it('lists, calls with progress, and cancels', async () => {
      const { url } = await gateway();
      const { transport, said } = await make({ url });
      const client = await connect(transport);
      expect(await client.tools()).toContain('up__echo');
      expect(await client.call('up__echo', { text: 'hällo' })).toEqual([{ type: 'text', text: 'hällo' }]);
      const steps: number[] = [];
      await client.call('up__progress', {}, { onprogress: ({ progress }) => steps.push(progress) });
      expect(steps).toEqual([1, 2, 3]);
      const abort = new AbortController();
      const waiting = client.call('up__wait', {}, { signal: abort.signal });
      abort.abort(new Error('enough'));
      await expect(waiting).rejects.toThrow('enough');
      await expect(client.call('up__error', {})).rejects.toMatchObject({ code: -32063, data: { a: 1 } });
      await client.close();
      expect(said.filter((each) => each === 'close')).toEqual(['close']);
      expect(transport.closed?.code).toBe(1000);
    });

    it('opens with a token by header and by subprotocol, and not without', async () => {
      const issuer = await makeIssuer();
      const { issuer: name, audience, secret } = issuer;
      const auth = {
        mode: 'jwt',
        resource: audience,
        issuers: [{ issuer: name, audience: [audience], keys: { secret } }],
      };
      const { url } = await gateway({ auth, policy: 'allow-authenticated', hosts: ['*'] });
      const token = () => issuer.sign();
      for (const carriage of ['header', 'subprotocol'] as const) {
        const client = await connect((await make({ url, token, carriage })).transport);
        expect(await client.call('up__echo', { text: carriage })).toEqual([{ type: 'text', text: carriage }]);
        await client.close();
      }
      const { transport } = await make({ url });
      await expect(connect(transport)).rejects.toMatchObject({
        status: 401,
        challenge: expect.stringContaining('Bearer'),
      });
    });
  });
}

interface SdkClient {
  tools(): Promise<string[]>;
  call(
    name: string,
    given: Record<string, unknown>,
    options?: { signal?: AbortSignal; onprogress?: (step: { progress: number }) => void },
  ): Promise<unknown>;
  close(): Promise<void>;
}

async function sdk1(transport: Transport): Promise<SdkClient> {
  const client = new Client1({ name: 'kit', version: '1' });
  await client.connect(transport);
  return {
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, given, options) =>
      (await client.callTool({ name, arguments: given }, CallToolResultSchema, options)).content,
    close: () => client.close(),
  };
}

async function sdk2(transport: Transport): Promise<SdkClient> {
  const client = new Client2({ name: 'kit', version: '1' });
  await client.connect(transport);
  return {
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, given, options) => (await client.callTool({ name, arguments: given }, options)).content,
    close: () => client.close(),
  };
}

function note(n: number): string {
  return JSON.stringify({ jsonrpc: '2.0', method: 'note', params: { n } });
}
