import { expect, test } from 'vitest';
import { messageEndpoint } from '../../src/upstream/sse-endpoint.ts';

test.each([
  ['/messages?id=1', 'https://h.example:8443/messages?id=1'],
  ['post', 'https://h.example:8443/a/post'],
  ['?id=1', 'https://h.example:8443/a/sse?id=1'],
  ['https://h.example:8443/x', 'https://h.example:8443/x'],
  ['//h.example:8443/x', 'https://h.example:8443/x'],
  ['http://h.example:8443/x', undefined],
  ['https://h.example/x', undefined],
  ['//evil.example/x', undefined],
  ['\\\\evil.example/x', undefined],
  ['https://a:b@h.example:8443/x', undefined],
  ['https://a@h.example:8443/x', undefined],
  ['data:,x', undefined],
  ['https://', undefined],
])('%s is %s', (said, endpoint) => {
  expect(messageEndpoint(said, 'https://h.example:8443/a/sse')).toBe(endpoint);
});
