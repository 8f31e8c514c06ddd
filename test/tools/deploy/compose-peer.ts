import { createServer } from 'node:http';

/**
 * An MCP server over Streamable HTTP, in a container of its own, that tells nobody when its list of tools changes: `POST
 * /grow?tool=…` adds one.
 */
const tools = ['first'];

createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://peer');
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  if (pathname === '/grow') {
    tools.push(searchParams.get('tool') ?? '');
    return response.writeHead(204).end();
  }
  if (request.method !== 'POST') return response.writeHead(405).end();
  const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString());
  if (id === undefined) return response.writeHead(202).end();
  const answer = { jsonrpc: '2.0', id, ...answerTo(method, params) };
  return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
}).listen(7000, '0.0.0.0');

function answerTo(method: string, params: { protocolVersion?: string } | undefined): object {
  if (method === 'initialize') {
    const { protocolVersion } = params ?? {};
    const serverInfo = { name: 'peer', version: '1' };
    return { result: { protocolVersion, capabilities: { tools: { listChanged: true } }, serverInfo } };
  }
  if (method === 'ping') return { result: {} };
  if (method === 'tools/list')
    return { result: { tools: tools.map((name) => ({ name, inputSchema: { type: 'object' } })) } };
  return { error: { code: -32601, message: 'Method not found' } };
}
