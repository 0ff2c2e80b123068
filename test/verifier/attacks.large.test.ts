import { describe, expect, test } from 'vitest';
import { NotAPackage } from '../../verifier-cli/src/index.js';
import { fixtureAuthority } from '../support/ledger-fixture.js';
import { buildPackage } from '../support/package-builder.js';
import { attackTable } from './attacks/attack-table.js';
import { notPassed, verifyFixture } from './support.js';

const authority = fixtureAuthority();

describe.each(Object.entries(attackTable(authority)))('%s', (_, attacks) => {
  test.each(attacks)('$name: $catches', async ({ hooks, catches, outcome, verdict, options }) => {
    const zip = buildPackage(authority, hooks);
    if (verdict === 'no package') {
      await expect(verifyFixture(authority, zip, options)).rejects.toThrow(NotAPackage);
      return;
    }
    const report = await verifyFixture(authority, zip, options);
    expect(report.verdict).toBe(verdict);
    if (catches === null) {
      expect(notPassed(report)).toEqual({});
      return;
    }
    expect(notPassed(report)).toMatchObject({ [catches]: outcome });
    const caught = report.checks.find(({ id }) => id === catches);
    expect(caught?.problems[0]?.message).toBeTruthy();
  });
});
