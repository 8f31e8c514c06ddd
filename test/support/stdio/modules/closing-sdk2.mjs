// An `McpServer` of SDK 2.x that does more than the SDK's when it is closed.
import { McpServer } from '@modelcontextprotocol/server';

class Closing extends McpServer {
  async close() {
    await super.close();
    throw new Error('its own close was called');
  }
}

export default () => new Closing({ name: 'closing', version: '2' });
