import { expect, test } from 'vitest';
import { FileCache } from '../../verifier-cli/src/batches/file-cache.js';
import { memorySource } from '../../verifier-cli/src/container/byte-source.js';
import { LIMITS } from '../../verifier-cli/src/container/limits.js';
import { PackageFiles } from '../../verifier-cli/src/files/package-files.js';
import { type Finding, finding } from '../../verifier-cli/src/findings/finding.js';
import { Findings } from '../../verifier-cli/src/findings/findings.js';
import { WorkMeter } from '../../verifier-cli/src/work/work-meter.js';

interface Shown {
  readonly bytes: number;
  readonly reason: Finding | null;
}

/** A cache whose files need this part of the memory each; it counts how often each is read. */
function cacheOf(part: number) {
  const reads: number[] = [];
  const files = new PackageFiles(
    memorySource(new Uint8Array()),
    new Map(),
    new Findings(),
    () => undefined,
    new WorkMeter(0, () => undefined),
  );
  const cache = new FileCache<Shown>(files, {
    nameOf: (number) => `tags/${number}.ndjson`,
    read: async (number) => {
      reads.push(number);
      return { bytes: LIMITS.proofCacheBytes * part, reason: null };
    },
    refused: (reason) => ({ bytes: 0, reason }),
    bytes: 1,
    loads: 2,
    texts: {
      tooOften: finding('proofs-read-too-often'),
      tooMany: finding('work-exceeded'),
      tooLarge: finding('proofs-too-large'),
    },
  });
  return { cache, reads };
}

test('files that are needed together stay in memory together, however large they are', async () => {
  const { cache, reads } = cacheOf(0.6);
  await cache.load(1, 127, 16_383);
  expect([1, 127, 16_383].map((number) => cache.peek(number)?.reason)).toEqual([null, null, null]);
  expect(reads).toEqual([1, 127, 16_383]);
});

test('a roll-up over many batches is read once', async () => {
  const { cache, reads } = cacheOf(0.3);
  for (let batch = 0; batch < 100; batch += 1) await cache.load(batch, 127);
  expect(reads.filter((number) => number === 127)).toHaveLength(1);
  expect(cache.peek(0)).toBeUndefined();
});

test('a file is not read more often than allowed', async () => {
  const { cache, reads } = cacheOf(1);
  for (let round = 0; round < 3; round += 1) for (const number of [1, 2]) await cache.load(number);
  expect(reads).toEqual([1, 2, 1, 2]);
  expect(cache.peek(1)?.reason).toEqual(finding('proofs-read-too-often'));
});
