import { expect, test } from 'vitest';
import { NotAPackage } from '../../verifier-cli/src/index.js';
import { CA_EXTENSIONS, makeCertificate, TSA_EXTENSIONS } from '../rfc3161/support/certificates.js';
import { ecdsaSigner } from '../rfc3161/support/keys.js';
import type { FixtureAuthority } from '../support/ledger-fixture.js';
import { buildPackage, type PackageHooks } from '../support/package-builder.js';
import { sampled } from '../support/sweeps.js';
import { isHarmless, unpacksAlike } from './harmless-bytes.js';
import { notPassed, verifyFixture } from './support.js';

const newSigner = () => ecdsaSigner('P-256', 'sha256');
const root = makeCertificate({ name: 'R', signer: newSigner(), extensions: CA_EXTENSIONS });
const tsa = makeCertificate({ name: 'T', issuer: root, signer: newSigner(), extensions: TSA_EXTENSIONS });
const authority: FixtureAuthority = { root, tsa, newSigner };

/** One consent with what it needs: its configuration, its document, one stamp. */
const SMALLEST: PackageHooks = {
  world: (world) => {
    const needed = world.batches
      .flat()
      .filter(({ label }) => ['config', 'published version en', 'activated en', 'c0'].includes(label));
    world.batches.splice(0, world.batches.length, needed);
    Object.assign(world, {
      erased: [],
      texts: world.texts.filter((text) => !new TextDecoder().decode(text).includes('# Çerez')),
    });
  },
  crl: () => null,
};

async function verdictOf(zip: Uint8Array): Promise<string> {
  try {
    return (await verifyFixture(authority, zip)).verdict;
  } catch (error) {
    if (error instanceof NotAPackage) return 'no package';
    throw error;
  }
}

test('every byte: flipped, it is found, or it lies where nothing is read', async () => {
  const zip = buildPackage(authority, SMALLEST);
  expect(notPassed(await verifyFixture(authority, zip))).toEqual({});
  const unfound: number[] = [];
  for (const at of sampled('flipped bytes of a package', [...zip.keys()])) {
    const changed = zip.slice();
    changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
    if ((await verdictOf(changed)) !== 'valid') continue;
    if (!isHarmless(zip, at) && !unpacksAlike(zip, changed, at)) unfound.push(at);
  }
  expect(unfound, `of ${zip.length} bytes`).toEqual([]);
});
