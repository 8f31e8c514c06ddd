import type { Deploy } from './check.ts';
import { readComposeFile } from './compose-file.ts';
import type { Engine } from './engine.ts';
import { PATH } from './images.ts';
import { RootFilesystem } from './root-filesystem.ts';

interface StandIn {
  readonly programs: readonly string[];
  /** What the real image says of itself, as far as the Compose file relies on it. */
  readonly changes: readonly string[];
  /** Where it writes. */
  readonly folder?: string;
}

/** Programs of this machine under the names of the images that cannot be downloaded here. */
const STAND_INS: Readonly<Record<string, StandIn>> = {
  redis: { programs: ['redis-server', 'redis-cli'], changes: [] },
  balancer: {
    programs: ['haproxy', 'bash'],
    changes: ['USER 99', 'CMD ["haproxy", "-W", "-db", "-f", "/usr/local/etc/haproxy/haproxy.cfg"]'],
  },
  prometheus: {
    programs: ['prometheus', 'wget'],
    changes: ['USER 65534', 'WORKDIR /prometheus', 'ENTRYPOINT ["/bin/prometheus"]'],
    folder: 'prometheus',
  },
};

/** Makes them, and returns the services that can be started with them. */
export async function makeStandIns(deploy: Deploy, engine: Engine): Promise<string[]> {
  const { services } = readComposeFile(deploy);
  for (const [service, { programs, changes, folder }] of Object.entries(STAND_INS)) {
    const root = new RootFilesystem(deploy, service);
    for (const program of ['sh', 'cat', ...programs]) await root.program(program);
    if (folder !== undefined) root.folder(folder, 0o777);
    const image = services[service]?.image ?? service;
    await root.importAs(image, (args) => engine.docker(args), [PATH, ...changes]);
  }
  return ['gateway', ...Object.keys(STAND_INS)];
}
