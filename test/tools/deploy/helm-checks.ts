import type { Check } from './check.ts';
import { HELM_CONFIG_CHECKS } from './helm-config-checks.ts';
import { HELM_MANIFEST_CHECKS } from './helm-manifest-checks.ts';
import { HELM_PACKAGE_CHECKS } from './helm-package-checks.ts';
import { HELM_PROMISE_CHECKS } from './helm-promise-checks.ts';
import { HELM_RUN_CHECKS } from './helm-run-checks.ts';
import { HELM_VALUE_CHECKS } from './helm-value-checks.ts';

/** The chart, without a cluster: rendered, judged by schemas, and its parts run where a process is enough. */
export const HELM_CHECKS: readonly Check[] = [
  ...HELM_MANIFEST_CHECKS,
  ...HELM_PROMISE_CHECKS,
  ...HELM_VALUE_CHECKS,
  ...HELM_CONFIG_CHECKS,
  ...HELM_RUN_CHECKS,
  ...HELM_PACKAGE_CHECKS,
];
