#!/usr/bin/env node
import { Command } from 'commander';
import { type ChangesOptions, changes } from './cli/changes.ts';
import { check } from './cli/check.ts';
import { serve } from './cli/serve.ts';
import { type TokenOptions, token } from './cli/token.ts';
import { GATEWAY_NAME, GATEWAY_VERSION } from './protocol/gateway-info.ts';

const program = new Command(GATEWAY_NAME)
  .version(GATEWAY_VERSION)
  .description('One WebSocket URL in front of any number of MCP servers.')
  .configureOutput({ outputError: (text, write) => write(`${sentenceOf(text)}\n`) });

command('serve', 'run the gateway until SIGTERM or SIGINT; logs on standard error, audit on standard output').action(
  ({ config }: { config?: string }) => serve(given(config)),
);

command(
  'check',
  'connect to every upstream and say what was found and what is wrong; exit code 1 if anything is',
).action(async ({ config }: { config?: string }) => {
  const code = await check(given(config));
  // A module upstream may have left timers behind; standard output is written by the time of the callback.
  process.stdout.write('', () => process.exit(code));
});

command(
  'token',
  'print a development token of an issuer that has a secret; how to connect with it goes to standard error',
)
  .option('--issuer <issuer>', 'which issuer, when several have a secret')
  .option('--id <id>', 'who the caller is', 'developer')
  .option('--role <role>', 'a role of the caller, as the issuer names it; may be repeated', collect)
  .option('--scope <scope>', 'a scope beside auth.requiredScopes; may be repeated', collect)
  .option('--expires-in <duration>', 'how long the token is good', '1h')
  .action((options: Omit<TokenOptions, 'config'> & { config?: string }) =>
    token({ ...options, config: given(options.config) }),
  );

command('changes', 'tell a running gateway that lists or a resource have changed; it tells the other replicas')
  .option('--kind <kind>', 'what has changed: tools, resources, prompts (lists) or updated (a resource)')
  .option('--upstream <key>', 'of which upstream; of every one where this is not given')
  .option('--uri <uri>', 'which resource was updated')
  .option('--url <url>', 'the admin listener of another gateway, as in http://gateway-1:9465')
  .action((options: Omit<ChangesOptions, 'config'> & { config?: string }) =>
    changes({ ...options, config: given(options.config) }),
  );

await program.parseAsync();

function command(name: string, description: string): Command {
  return program.command(name).description(description).option('--config <file>', 'the configuration, a YAML file');
}

/** Asked for here and not by commander, which would complain about it before it sees a misspelt option. */
function given(config: string | undefined): string {
  return config ?? program.error('error: --config FILE is required');
}

/** Commander puts its hint on a line of its own. */
function sentenceOf(text: string): string {
  return text.trim().replaceAll(/\s*\n\s*/g, ' ');
}

function collect(value: string, before: string[] = []): string[] {
  return [...before, value];
}
