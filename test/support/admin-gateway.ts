import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { fileWith } from './config-fixtures.ts';
import { startGateway, type TestGateway } from './gateway.ts';

export const ADMIN_TOKEN = 'an-admin-token-of-the-tests-0123456789';

export interface AdminRequest {
  readonly method?: string;
  readonly path?: string;
  /** Over those of a good request; undefined leaves one out. */
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>>;
}

export interface AdminAnswer {
  readonly status: number;
  readonly challenge: string | undefined;
  /** Of the connection, when the answer was given. */
  readonly connection: string | undefined;
  readonly body: unknown;
}

export interface AdminGateway extends TestGateway {
  readonly adminUrl: string;
  /** The file with the token. */
  readonly tokenFile: string;
  /** One request to its admin listener, POST /changes with the token and this body unless told otherwise; a body that is text is sent as it is. */
  tell(body: unknown, request?: AdminRequest): Promise<AdminAnswer>;
}

/** A gateway with an admin listener, closed when the test ends. */
export async function startAdminGateway(config: Readonly<Record<string, unknown>> = {}): Promise<AdminGateway> {
  const tokenFile = fileWith('admin-token', `${ADMIN_TOKEN}\n`);
  const gateway = await startGateway({ admin: { port: 0, tokenFile }, ...config });
  if (gateway.admin === undefined) throw new Error('no admin listener');
  const adminUrl = `http://127.0.0.1:${gateway.admin.port}`;
  return { ...gateway, adminUrl, tokenFile, tell: (body, more) => ask(adminUrl, body, more) };
}

function ask(url: string, body: unknown, { method = 'POST', path = '/changes', headers }: AdminRequest = {}) {
  const good = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json', connection: 'keep-alive' };
  const all = { ...good, ...headers };
  const given = Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
  const outgoing = request(`${url}${path}`, { method, agent: false });
  for (const [name, value] of given) outgoing.setHeader(name, value);
  onTestFinished(() => void outgoing.destroy());
  return new Promise<AdminAnswer>((resolve, reject) => {
    outgoing.once('error', reject);
    outgoing.once('response', (response) => {
      const { statusCode: status = 0, headers: heard } = response;
      const told = { status, challenge: heard['www-authenticate'], connection: heard.connection };
      const settle = (said: string) => resolve({ ...told, body: JSON.parse(said) });
      text(response).then(settle, reject);
    });
    if (method === 'GET') outgoing.end();
    else outgoing.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
}
