import type { Check } from './check.ts';
import { imageBuilds, imageHoldsNoMore } from './docker-image.ts';
import { serversOfNpx } from './docker-npx.ts';
import { containerServes } from './docker-run.ts';

/** In this order: a build needs the network of the host, what is run an engine with its own. */
export const DOCKER_CHECKS: readonly Check[] = [
  { name: 'docker image builds', run: imageBuilds },
  { name: 'docker npx servers run from a cache volume', run: serversOfNpx },
  { name: 'docker image holds no more than it needs', run: imageHoldsNoMore },
  { name: 'docker container serves and stops', run: containerServes },
];
