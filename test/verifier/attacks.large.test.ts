import { describe, expect, test } from 'vitest';
import { fixtureAuthority } from '../support/ledger-fixture.js';
import { buildPackage } from '../support/package-builder.js';
import { attackTable } from './attacks/attack-table.js';
import { notPassed, verifyFixture } from './support.js';

const authority = fixtureAuthority();

describe.each(Object.entries(attackTable(authority)))('%s', (_, attacks) => {
  test.each(attacks)('$name: $catches', async ({ hooks, catches, outcome, verdict, options }) => {
    const report = await verifyFixture(authority, buildPackage(authority, hooks), options);
    expect(notPassed(report)).toMatchObject({ [catches]: outcome });
    expect(report.verdict).toBe(verdict);
    const caught = report.checks.find(({ id }) => id === catches);
    expect(caught?.problems[0]?.message).toBeTruthy();
  });
});
