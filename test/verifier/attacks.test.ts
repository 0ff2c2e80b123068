import { describe, expect, test } from 'vitest';
import { fixtureAuthority } from '../support/ledger-fixture.js';
import { buildPackage } from '../support/package-builder.js';
import type { Attack } from './attacks/attack.js';
import { containerAttacks } from './attacks/container-attacks.js';
import { dataAttacks } from './attacks/data-attacks.js';
import { ledgerAttacks } from './attacks/ledger-attacks.js';
import { timeAttacks } from './attacks/time-attacks.js';
import { treeAttacks } from './attacks/tree-attacks.js';
import { notPassed, verifyFixture } from './support.js';

const authority = fixtureAuthority();
const GROUPS: Readonly<Record<string, readonly Attack[]>> = {
  'trees and batches': treeAttacks(),
  'checkpoints and keys': ledgerAttacks(),
  'time stamps and times': timeAttacks(authority),
  'container and manifest': containerAttacks(),
  'entries and records': dataAttacks(),
};

describe.each(Object.entries(GROUPS))('%s', (_, attacks) => {
  test.each(attacks)('$name: $catches', async ({ hooks, catches, outcome, verdict, options }) => {
    const report = await verifyFixture(authority, buildPackage(authority, hooks), options);
    expect(notPassed(report)).toMatchObject({ [catches]: outcome });
    expect(report.verdict).toBe(verdict);
    const caught = report.checks.find(({ id }) => id === catches);
    expect(caught?.problems[0]?.message).toBeTruthy();
  });
});
