/** Why a request to the admin listener is refused, and its status: one closed table. The body names the word, `invalid` also the sentence. */
export const ADMIN_REFUSALS = {
  origin: 403,
  host: 403,
  no_token: 401,
  invalid_token: 401,
  unsupported_media_type: 415,
  too_large: 413,
  invalid: 400,
  unknown_upstream: 404,
} as const;

export type AdminRefusal = keyof typeof ADMIN_REFUSALS;
