import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { rsaSignerOf } from '../../rfc3161/support/keys.js';
import { type FixtureAuthority, fixtureAuthority } from '../../support/ledger-fixture.js';
import { TimeAuthority } from '../dishonest-operator/time-authority.js';

/**
 * An authority with the RSA keys that lie in the folder of the interop cases: what it signs is the same each time, and
 * so is a ledger that it stamped. The third key serves every further certificate.
 * @param folder of the interop cases
 */
export function fixedAuthority(folder: string): FixtureAuthority {
  const keys = ['root', 'tsa', 'other'].map((name) =>
    rsaSignerOf(createPrivateKey(readFileSync(join(folder, 'keys', `${name}.pem`)))),
  );
  let used = 0;
  return fixtureAuthority(() => {
    const key = keys[Math.min(used, 2)];
    used += 1;
    if (key === undefined) throw new Error('the keys of the interop cases are missing');
    return key;
  });
}

/** An authority of the dishonest operator with these keys. @param folder of the interop cases */
export function fixedTimeAuthority(folder: string): TimeAuthority {
  const keys = ['root', 'tsa'].map((name) => createPrivateKey(readFileSync(join(folder, 'keys', `${name}.pem`))));
  return new TimeAuthority(undefined, undefined, () => {
    const key = keys.shift();
    if (key === undefined) throw new Error('the keys of the interop cases are missing');
    return key;
  });
}
