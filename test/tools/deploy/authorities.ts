import { existsSync } from 'node:fs';

/** Where Debian keeps the authorities it trusts, a network's own among them. */
const DEBIAN = '/etc/ssl/certs/ca-certificates.crt';

/** The file of the authorities by which a container reaches npm's registry as this machine does; undefined where Node's own are enough. */
export function authorities(): string | undefined {
  return [process.env.NODE_EXTRA_CA_CERTS ?? '', DEBIAN].find(existsSync);
}
