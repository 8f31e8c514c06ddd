import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { loadConfigText } from '../../src/config/load.ts';

/** What Helm is not needed for: the rest is in `npm run test:deploy -- helm`. */
const read = (path: string) => readFileSync(path, 'utf8');

test('the chart installs the version of the package', () => {
  expect(parse(read('helm/Chart.yaml'))).toMatchObject({
    name: 'mcp-ws-gateway',
    appVersion: JSON.parse(read('package.json')).version,
  });
});

test.each([
  ['helm/files/rules.yml', 'deploy/prometheus/rules.yml'],
  ['helm/files/dashboard.json', 'deploy/grafana/dashboards/mcp-ws-gateway.json'],
])('%s, which the chart cannot read elsewhere, is %s', (copy, original) => {
  expect(read(copy)).toBe(read(original));
});

test('the configuration in the default values is one the gateway starts with', () => {
  const { config } = parse(read('helm/values.yaml'));
  expect(loadConfigText(stringify(config), 'helm/gateway.yaml', {})).toMatchObject({ ok: true });
});

test('the pod uses the paths of the image', () => {
  const image = read('Dockerfile');
  expect(image).toContain('CMD ["serve", "--config", "/etc/mcp-ws-gateway/gateway.yaml"]');
  expect(image).toContain('HOME=/var/cache/mcp-ws-gateway\n');
  const pod = read('helm/templates/deployment.yaml');
  expect(pod).toContain('args: [serve, --config, /etc/mcp-ws-gateway/gateway.yaml]');
  expect(pod).toContain('mountPath: /var/cache/mcp-ws-gateway\n');
});
