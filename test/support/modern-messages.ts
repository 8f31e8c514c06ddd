export const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};

export interface ModernRequest {
  readonly capabilities?: object;
  /** Further members of `_meta`. */
  readonly meta?: object;
}

/** A request as a modern client sends it. */
export function modernRequest(id: string | number, method: string, params: object = {}, more: ModernRequest = {}) {
  const { capabilities = {}, meta = {} } = more;
  const _meta = { ...ENVELOPE, 'io.modelcontextprotocol/clientCapabilities': capabilities, ...meta };
  return { jsonrpc: '2.0', id, method, params: { ...params, _meta } };
}

export interface InputRequired {
  readonly id: string | number;
  readonly result: {
    readonly resultType: 'input_required';
    readonly inputRequests: Readonly<Record<string, { readonly method: string; readonly params: object }>>;
    readonly requestState: string;
  };
}

/** The frame if it is an answer with questions; fails the test otherwise. */
export function inputRequired(frame: unknown): InputRequired {
  if (!isInputRequired(frame)) throw new Error(`not input_required: ${JSON.stringify(frame)}`);
  return frame;
}

export function isInputRequired(frame: unknown): frame is InputRequired {
  if (typeof frame !== 'object' || frame === null || !('result' in frame)) return false;
  const { result } = frame;
  return (
    typeof result === 'object' && result !== null && 'resultType' in result && result.resultType === 'input_required'
  );
}
