import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { rsaSignerOf } from '../../rfc3161/support/keys.js';
import { type FixtureAuthority, fixtureAuthority } from '../../support/ledger-fixture.js';

/**
 * An authority with the RSA keys that lie in the corpus: what it signs is the same each time, and
 * so is a ledger that it stamped. The third key serves every further certificate.
 * @param folder of the corpus
 */
export function fixedAuthority(folder: string): FixtureAuthority {
  const keys = ['root', 'tsa', 'other'].map((name) =>
    rsaSignerOf(createPrivateKey(readFileSync(join(folder, 'keys', `${name}.pem`)))),
  );
  let used = 0;
  return fixtureAuthority(() => {
    const key = keys[Math.min(used, 2)];
    used += 1;
    if (key === undefined) throw new Error('the keys of the corpus are missing');
    return key;
  });
}
