import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { GATEWAY_NAME, GATEWAY_VERSION } from '../../src/protocol/gateway-info.ts';

test('the gateway calls itself what package.json calls it', () => {
  const { name, version } = JSON.parse(readFileSync('package.json', 'utf8'));
  expect([GATEWAY_NAME, GATEWAY_VERSION]).toEqual([name, version]);
});
