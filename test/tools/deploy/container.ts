import type { Engine } from './engine.ts';

interface State {
  readonly Status: string;
  readonly ExitCode: number;
  readonly OOMKilled: boolean;
  readonly StartedAt: string;
  readonly Health?: { readonly Status: string };
}

/** What an engine says about one of its containers. */
export class Container {
  readonly name: string;
  private readonly engine: Engine;

  constructor(engine: Engine, name: string) {
    this.engine = engine;
    this.name = name;
  }

  async state(): Promise<State> {
    return this.inspect('{{json .State}}');
  }

  async health(): Promise<string> {
    return (await this.state()).Health?.Status ?? 'without a health check';
  }

  /** Its address in a network, empty where it is in none. */
  async address(network: string): Promise<string> {
    return this.inspect(`{{json (index .NetworkSettings.Networks "${network}").IPAddress}}`);
  }

  async run(...command: readonly string[]): Promise<string> {
    return (await this.engine.docker(['exec', this.name, ...command])).stdout;
  }

  /** The gateway's log: JSON lines on standard error. */
  async events(): Promise<Record<string, unknown>[]> {
    const { stderr } = await this.engine.docker(['logs', this.name]);
    return stderr
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line): Record<string, unknown> => JSON.parse(line));
  }

  private async inspect<T>(format: string): Promise<T> {
    return JSON.parse((await this.engine.docker(['inspect', '--format', format, this.name])).stdout);
  }
}
