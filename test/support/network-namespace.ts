import { execFileSync } from 'node:child_process';
import { onTestFinished } from 'vitest';

export interface Namespace {
  /** Addresses in it, reached from here. */
  readonly addresses: readonly [string, string];
  /** What runs a command in it. */
  readonly command: readonly string[];
  /** Packets to and from this address vanish, until the returned function is called. */
  drop(address: string): () => void;
}

let count = 0;

/** A network of its own behind a virtual cable, with a packet filter of its own. Needs root. */
export function networkNamespace(): Namespace {
  count += 1;
  const name = `gw${process.pid}-${count}`;
  const [near, far] = [`gwa${process.pid % 100_000}${count}`, `gwb${process.pid % 100_000}${count}`];
  const net = `10.${100 + (process.pid % 100)}.${count}`;
  const addresses = [`${net}.2`, `${net}.3`] as const;
  const command = ['ip', 'netns', 'exec', name];
  run('ip', 'netns', 'add', name);
  onTestFinished(() => run('ip', 'netns', 'delete', name));
  run('ip', 'link', 'add', near, 'type', 'veth', 'peer', 'name', far, 'netns', name);
  run('ip', 'address', 'add', `${net}.1/24`, 'dev', near);
  run('ip', 'link', 'set', near, 'up');
  for (const address of addresses) run(...command, 'ip', 'address', 'add', `${address}/24`, 'dev', far);
  for (const link of ['lo', far]) run(...command, 'ip', 'link', 'set', link, 'up');
  const rules = (address: string) => [
    ['INPUT', '-d', address, '-j', 'DROP'],
    ['OUTPUT', '-s', address, '-j', 'DROP'],
  ];
  return {
    addresses,
    command,
    drop(address) {
      for (const rule of rules(address)) run(...command, 'iptables', '-A', ...rule);
      return () => {
        for (const rule of rules(address)) run(...command, 'iptables', '-D', ...rule);
      };
    },
  };
}

function run(file = '', ...args: readonly string[]): void {
  execFileSync(file, args, { stdio: ['ignore', 'ignore', 'inherit'], timeout: 10_000 });
}
