import type { About } from '../../src/ports/transport.ts';

/** The parameters of `send` for one request of the modern era. */
export type ModernRequest = readonly [text: string, id: number, about: About];

export function modernRequest(id: number, method: string, params: object = {}, meta: object = {}): ModernRequest {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
    ...meta,
  };
  const name = 'name' in params ? params.name : 'uri' in params ? params.uri : undefined;
  const text = JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta } });
  return [text, id, { method, name: typeof name === 'string' ? name : undefined }];
}
