import { ITEM_KINDS } from '../catalogue/walk.ts';
import type { Config, ServerConfig } from '../config/schema.ts';
import { systemClock } from '../observe/clock.ts';
import type { ItemKind } from '../ports/meter.ts';
import { adminProblems } from './check-admin.ts';
import { busWarnings } from './check-bus.ts';
import { issuerProblems } from './check-issuers.ts';
import { tlsProblems } from './check-tls.ts';
import { readConfiguration } from './configuration.ts';
import { exitTasks } from './exit-tasks.ts';
import { idlePatterns, type Offered } from './idle-patterns.ts';
import { type Mask, maskFor } from './masked.ts';
import { type Found, type Probe, probe } from './probe.ts';
import { UNMEASURED } from './unmeasured.ts';
import { unpinnedPackages } from './unpinned-packages.ts';

/**
 * `check`: reads the configuration, connects to every upstream, and prints on standard output what it found, what is
 * wrong and what is worth a second look, one line each. Resolves with the exit code: 1 when something is wrong, warnings
 * alone are 0. What it opened is closed by then.
 */
export async function check(file: string): Promise<0 | 1> {
  const report = new Report();
  const loaded = readConfiguration(file, process.env);
  if (!loaded.ok) {
    for (const sentence of loaded.problems) report.problem(sentence);
    return report.end();
  }
  for (const sentence of loaded.warnings) report.warning(sentence);
  await inspect(loaded.config, report);
  return report.end();
}

async function inspect(config: Config, report: Report): Promise<void> {
  const clock = systemClock();
  const mask = maskFor(config);
  // The gateway's timers keep no process alive, and an upstream that says nothing does not either.
  const alive = setInterval(() => {}, 60_000);
  process.once('SIGINT', () => process.exit(130));
  process.once('SIGTERM', () => process.exit(143));
  const deps = { clock, meter: UNMEASURED, environment: process.env, atExit: exitTasks().keep };
  const issuers = issuerProblems(config, clock);
  const bus = busWarnings(config, clock);
  const probes = config.mcpServers.map((server) => probe(server, config, deps));
  for (const sentence of [...tlsProblems(config, clock), ...adminProblems(config)]) report.problem(mask(sentence));
  for (const sentence of await issuers) report.problem(mask(sentence));
  for (const sentence of await bus) report.warning(mask(sentence));
  const offered: Offered[] = [];
  for (const [index, server] of config.mcpServers.entries()) {
    const found = await probes[index];
    if (found?.state === 'found') offered.push(offerOf(server.key, found));
    if (found !== undefined) tell(server, found, mask, report);
  }
  const upstreams = config.mcpServers.map(({ key }) => key);
  for (const sentence of idlePatterns(config.policy, { upstreams, offered })) report.warning(sentence);
  clearInterval(alive);
}

function tell(server: ServerConfig, found: Probe, mask: Mask, report: Report): void {
  const { key } = server;
  if (found.state === 'found') {
    const counts = ITEM_KINDS.map((kind) => counted(found.lists[kind].length, NOUNS[kind]));
    report.line(`${key}: ${counts.join(', ')} (revision ${found.revision}, ${found.took} ms)`);
    for (const fault of found.faults) report.problem(mask(`mcpServers.${key}: ${fault}`));
  } else {
    report.problem(mask(`mcpServers.${key} cannot be reached: ${found.cause}`));
  }
  if (server.type !== 'stdio') return;
  for (const { runner, spec, pinned } of unpinnedPackages(server.command, server.args)) {
    const advice = `name an exact one, as in ${pinned}`;
    report.warning(mask(`mcpServers.${key}: ${runner} ${spec} runs whatever version is newest that day; ${advice}`));
  }
}

const NOUNS: Readonly<Record<ItemKind, string>> = {
  tools: 'tool',
  resources: 'resource',
  templates: 'template',
  prompts: 'prompt',
};

function offerOf(upstream: string, { lists }: Found): Offered {
  const originals = (kind: ItemKind) => lists[kind].map(({ original }) => original);
  return {
    upstream,
    tools: originals('tools'),
    resources: originals('resources'),
    templates: originals('templates'),
    prompts: originals('prompts'),
  };
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** Lines on standard output, and what they come to. */
class Report {
  #problems = 0;
  #warnings = 0;

  line(text: string): void {
    process.stdout.write(`${text}\n`);
  }

  problem(sentence: string): void {
    this.#problems += 1;
    this.line(`problem: ${sentence}`);
  }

  warning(sentence: string): void {
    this.#warnings += 1;
    this.line(`warning: ${sentence}`);
  }

  end(): 0 | 1 {
    this.line(`${counted(this.#problems, 'problem')}, ${counted(this.#warnings, 'warning')}`);
    return this.#problems === 0 ? 0 : 1;
  }
}
