import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { WebSocketClientTransport } from '../../../src/client/index.ts';
import { until } from '../trial/until.ts';

/** A client that waits to be told that its tools have changed, and reads them then. */
export class ListWatcher {
  /** How often it was told. */
  told = 0;
  tools: readonly string[] = [];
  private readonly client = new Client({ name: 'watcher', version: '1' });

  static async open(port: number, token: string): Promise<ListWatcher> {
    const watcher = new ListWatcher();
    const { client } = watcher;
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => watcher.changed());
    await client.connect(new WebSocketClientTransport({ url: `ws://127.0.0.1:${port}/mcp`, token }));
    await watcher.read();
    return watcher;
  }

  /** Milliseconds until it has the tool; undefined when it has not within that time. */
  async has(tool: string, within: number): Promise<number | undefined> {
    const started = performance.now();
    const isThere = await until(() => this.tools.includes(tool), within);
    return isThere ? Math.round(performance.now() - started) : undefined;
  }

  close(): Promise<void> {
    return this.client.close();
  }

  private async changed(): Promise<void> {
    this.told += 1;
    await this.read();
  }

  private async read(): Promise<void> {
    this.tools = (await this.client.listTools()).tools.map(({ name }) => name);
  }
}
