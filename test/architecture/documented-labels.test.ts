import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { CertificateFault } from '../../src/auth/client-certificate.ts';
import { INSTRUMENTS } from '../../src/observe/instruments.ts';
import type { RefusedReason, RenewalRefusedReason } from '../../src/ports/verifier.ts';
import { tableUnder } from '../support/markdown-table.ts';

const rows = new Map(
  tableUnder(readFileSync('docs/metrics.md', 'utf8'), '| label | values |').map(([label = '', values = '']) => [
    label,
    values,
  ]),
);

/** Of tokens, of fresh ones on open sockets, then of certificates, then of tickets: a reason that is added to the code without one here does not compile. */
const REASONS: Readonly<Record<RefusedReason | RenewalRefusedReason | CertificateFault | 'ticket', true>> = {
  malformed: true,
  unknown_issuer: true,
  bad_signature: true,
  bad_algorithm: true,
  unknown_key: true,
  expired: true,
  not_yet_valid: true,
  no_expiry: true,
  life_too_long: true,
  wrong_audience: true,
  missing_claim: true,
  no_subject: true,
  other_principal: true,
  insufficient_scope: true,
  certificate_untrusted: true,
  certificate_expired: true,
  certificate_unknown: true,
  ticket: true,
};

test('the reasons for which a token, certificate or ticket is refused are documented, and no other', () => {
  const [, listed = ''] = /of tokens (.*)$/.exec(rows.get('reason of auth_total') ?? '') ?? [];
  expect(listed.replaceAll(/of (fresh tokens|certificates|tickets) /g, '').split(/[,;] /)).toEqual(
    Object.keys(REASONS),
  );
});

test('every label of an instrument has a row', () => {
  const said = new Set([...rows.keys()].flatMap((label) => (label.split(' of ')[0] ?? '').split(', ')));
  const constant = ['hash', 'version', 'node'];
  const labels = new Set(Object.values(INSTRUMENTS).flatMap((row): readonly string[] => row.labels));
  expect([...labels].filter((label) => !said.has(label)).sort()).toEqual(constant.sort());
});
