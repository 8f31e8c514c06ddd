import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What one panel of the dashboard asks for, as Prometheus is to be asked. */
export interface Query {
  readonly panel: string;
  readonly expression: string;
}

interface Dashboard {
  readonly panels: readonly { readonly title: string; readonly targets?: readonly { readonly expr: string }[] }[];
}

/** What Grafana puts in place of its variables where all of everything is shown. */
const VARIABLES: Readonly<Record<string, string>> = {
  $__rate_interval: '1m',
  $job: '.*',
  $instance: '.*',
  $upstream: '.*',
};

/** Every query of the dashboard. Throws where one has a variable that is not known here. */
export function dashboardQueries(root: string): readonly Query[] {
  const text = readFileSync(join(root, 'deploy/grafana/dashboards/mcp-ws-gateway.json'), 'utf8');
  const { panels } = JSON.parse(text) as Dashboard;
  return panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({ panel: title, expression: substituted(expr) })),
  );
}

function substituted(expression: string): string {
  return expression.replaceAll(/\$\w+/g, (variable) => {
    const value = VARIABLES[variable];
    if (value === undefined) throw new Error(`the dashboard has a variable ${variable}`);
    return value;
  });
}
