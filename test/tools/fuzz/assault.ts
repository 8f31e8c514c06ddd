import type { GatewayProcess } from '../trial/gateway-process.ts';
import { Random } from '../trial/random.ts';
import { openLines, openWebSocket } from '../trial/socket.ts';
import { signToken } from '../trial/tokens.ts';
import { Conversation, type Tally } from './conversation.ts';
import type { Door } from './door.ts';
import { excerpt } from './ledger.ts';
import type { Part } from './parts.ts';
import { ELSEWHERE, mutateUpgrade, type Tokens, tryUpgrade } from './upgrades.ts';

/** Sockets under mutants at once. */
const LANES = 16;
const PRINCIPALS = 40;
/** Faults whose traffic is shown, and how many lines of it. */
const SHOWN = 5;
const LAST = 60;

/** Sends mutants by jobs, each of which its seed and number repeat, until there are so many or the gateway is gone. */
export class Assailant {
  readonly tally: Tally = new Map();
  readonly faults: string[] = [];
  private readonly door: Door;
  private readonly part: Part;
  private readonly gateway: GatewayProcess;
  private readonly seed: string;
  private readonly good: readonly string[];
  private readonly bad: readonly string[];
  private job = 0;
  private sent = 0;

  private constructor(door: Door, part: Part, gateway: GatewayProcess, seed: string, tokens: readonly string[][]) {
    this.door = door;
    this.part = part;
    this.gateway = gateway;
    this.seed = seed;
    [this.good = [], this.bad = []] = tokens;
  }

  static async create(door: Door, part: Part, gateway: GatewayProcess, seed: string): Promise<Assailant> {
    const good = Array.from({ length: PRINCIPALS }, (_, at) => signToken({ sub: `fuzz-${at}` }));
    const parts = [{ secret: 'another secret, of 32 bytes at least' }, { life: -60 }, { audience: ELSEWHERE }];
    const bad = parts.map((part) => signToken({ sub: 'bad', ...part }));
    const tokens = [await Promise.all(good), [...(await Promise.all(bad)), 'a.b.c', 'x', '']];
    return new Assailant(door, part, gateway, seed, tokens);
  }

  /** Until `count` mutants have been sent in all. */
  async upTo(count: number): Promise<void> {
    const lane = async () => {
      while (this.sent < count && this.gateway.ended === undefined) {
        this.job += 1;
        await this.run(this.job);
      }
    };
    await Promise.all(Array.from({ length: LANES }, lane));
  }

  /** One job alone, aloud. */
  async only(job: number): Promise<void> {
    await this.run(job, (line) => process.stdout.write(`${line}\n`));
  }

  private async run(job: number, aloud?: (line: string) => void): Promise<void> {
    const seed = `${this.seed}:${this.part.name}:${job}`;
    const random = new Random(seed);
    const traffic: string[] = [];
    const trace = aloud ?? ((line: string) => void traffic.push(`        ${excerpt(line)}`));
    const tokens = { good: this.good[random.int(this.good.length)] ?? '', bad: this.bad };
    const faults = random.chance(this.part.upgrades)
      ? await this.upgrade(tokens, random, trace)
      : await this.converse(tokens, seed, trace).catch((error: unknown) => [String(error)]);
    for (const fault of faults) this.fault(job, fault, traffic);
  }

  /** Said at once as well: a run that gets stuck shows why. */
  private fault(job: number, fault: string, traffic: readonly string[]): void {
    const text = `part "${this.part.name}", job ${job}: ${fault}`;
    if (this.faults.length < SHOWN) process.stderr.write(`${[text, ...traffic.slice(-LAST)].join('\n')}\n`);
    this.faults.push(text);
  }

  private async upgrade(tokens: Tokens, random: Random, trace: (line: string) => void): Promise<string[]> {
    const mutant = mutateUpgrade(this.door.port, tokens, random);
    trace(`> ${mutant.name}: ${mutant.bytes.toString('latin1')}`);
    const row = this.tally.get('upgrades') ?? { mutants: 0, json: 0 };
    row.mutants += 1;
    this.tally.set('upgrades', row);
    this.sent += 1;
    const fault = await tryUpgrade(this.door.port, mutant, random.chance(0.05));
    return fault === undefined ? [] : [`upgrade "${mutant.name}": ${fault}`];
  }

  private async converse(tokens: Tokens, seed: string, trace: (line: string) => void): Promise<string[]> {
    const { door, part } = this;
    const socket =
      part.rules.framing === 'lines' ? await openLines(door.tcpPort) : await openWebSocket(door.port, tokens.good);
    const conversation = new Conversation(socket, seed, part.rules, this.tally, trace);
    const sent = await conversation.run();
    this.sent += sent;
    return conversation.faults;
  }
}
