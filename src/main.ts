#!/usr/bin/env node
import { Command } from 'commander';
import { serve } from './cli/serve.ts';
import { GATEWAY_NAME, GATEWAY_VERSION } from './protocol/gateway-info.ts';

const program = new Command(GATEWAY_NAME).version(GATEWAY_VERSION);

program
  .command('serve')
  .description('run the gateway')
  .requiredOption('--config <file>', 'configuration file')
  .action(({ config }: { config: string }) => serve(config));

await program.parseAsync();
