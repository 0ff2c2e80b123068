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

test('a package cut at any byte is no package', async () => {
  const zip = buildPackage(authority);
  for (let length = 0; length < zip.length; length += 1) {
    expect(await verdictOf(zip.slice(0, length)), `cut at ${length}`).not.toBe('valid');
  }
}, 600_000);

test('a byte flipped anywhere is found, or lies where nothing is read', async () => {
  const zip = buildPackage(authority);
  const step = 37;
  const harmless: number[] = [];
  for (let at = 0; at < zip.length; at += step) {
    const changed = zip.slice();
    changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
    const verdict = await verdictOf(changed);
    if (verdict === 'valid') harmless.push(at);
  }
  for (const at of harmless) expect(isUnread(zip, at), `byte ${at} of ${zip.length}`).toBe(true);
}, 600_000);

/**
 * Fields of the ZIP that say nothing about the content: versions of the writing program, internal attributes, and permissions.
 * Everything else of a file's headers is compared or needed to read it.
 */
function isUnread(zip: Uint8Array, at: number): boolean {
  const view = new DataView(zip.buffer, zip.byteOffset, zip.byteLength);
  const matches = (signature: number, start: number) => start >= 0 && view.getUint32(start, true) === signature;
  const centralFields = [4, 5, 6, 7, 36, 37, 38, 39, 40, 41];
  const inCentral = centralFields.some((field) => matches(0x02014b50, at - field));
  const inLocal = [4, 5].some((field) => matches(0x04034b50, at - field));
  return inCentral || inLocal;
}
