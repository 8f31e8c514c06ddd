import { type Admin, startAdmin } from '../http/admin.ts';
import type { Change } from '../ports/bus.ts';
import type { AuditSink } from '../ports/sink.ts';
import type { Shared } from './shared.ts';

export interface AdminParts {
  readonly audit: AuditSink;
  readonly publish: (change: Change) => void;
}

/** Undefined where the configuration has no `admin`. */
export async function openAdmin(shared: Shared, parts: AdminParts): Promise<Admin | undefined> {
  const { admin, mcpServers } = shared.config;
  if (admin === null) return undefined;
  return startAdmin(admin, { ...shared, ...parts, upstreams: mcpServers.map(({ key }) => key) });
}
