import type { Check } from './check.ts';
import { fileIsRead, fileIsToSpecification } from './compose-file.ts';
import { partsAndReturns } from './compose-partition.ts';
import { networkServes } from './compose-serves.ts';
import { stopsAndStartsAgain } from './compose-stops.ts';

/** The last three use one network, each as the one before left it. Grafana has no program here: its service is not started. */
export const COMPOSE_CHECKS: readonly Check[] = [
  { name: 'compose config by docker-compose', run: fileIsRead },
  { name: 'compose file by the specification', run: fileIsToSpecification },
  { name: 'compose network serves', run: networkServes },
  { name: 'compose network parts and catches up', run: partsAndReturns },
  { name: 'compose network stops and starts again', run: stopsAndStartsAgain },
];
