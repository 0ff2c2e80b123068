import { expect, test } from 'vitest';
import { NotAPackage } from '../../verifier-cli/src/index.js';
import { fixtureAuthority } from '../support/ledger-fixture.js';
import { buildPackage } from '../support/package-builder.js';
import { verifyFixture } from './support.js';

const authority = fixtureAuthority();

async function verdictOf(zip: Uint8Array): Promise<string> {
  try {
    return (await verifyFixture(authority, zip)).verdict;
  } catch (error) {
    if (error instanceof NotAPackage) return 'no package';
    throw error;
  }
}

test('rejects a package cut at any byte', async () => {
  const zip = buildPackage(authority);
  for (let length = 0; length < zip.length; length += 1) {
    expect(await verdictOf(zip.slice(0, length)), `cut at ${length}`).not.toBe('valid');
  }
});
