import type { Config } from '../config/schema.ts';
import { readAdminToken } from '../http/admin-token.ts';

/** A sentence about the file of `admin.tokenFile` where it holds no token. */
export function adminProblems({ admin }: Config): string[] {
  if (admin === null) return [];
  try {
    readAdminToken(admin.tokenFile);
    return [];
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}
