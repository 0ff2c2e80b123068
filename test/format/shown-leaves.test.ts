import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toHex } from '../../schemas/crypto/encoding.js';
import { rootOfShown, ShownLeavesProof } from '../../schemas/merkle/shown-leaves.js';

const hashOf = (...parts: readonly (string | Uint8Array)[]): Uint8Array => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return new Uint8Array(hash.digest());
};

/** The root of RFC 9162 §2.1.1, by its definition. */
function mth(leaves: readonly Uint8Array[]): Uint8Array {
  const [only] = leaves;
  if (only === undefined) return hashOf();
  if (leaves.length === 1) return only;
  let k = 1;
  while (k * 2 < leaves.length) k *= 2;
  return hashOf(Uint8Array.of(1), mth(leaves.slice(0, k)), mth(leaves.slice(k)));
}

const leavesOf = (size: number): Uint8Array[] => Array.from({ length: size }, (_, n) => hashOf(`leaf ${n}`));

function proofOf(leaves: readonly Uint8Array[], shown: ReadonlySet<number>): ShownLeavesProof {
  const proof = new ShownLeavesProof();
  for (const [index, leaf] of leaves.entries()) proof.append(leaf, shown.has(index));
  return proof;
}

const sizes = fc.integer({ min: 1, max: 70 });
const chosen = sizes.chain((size) =>
  fc.tuple(fc.constant(size), fc.subarray(Array.from({ length: size }, (_, n) => n))),
);

test('the hashes beside any leaves lead to the root', () => {
  fc.assert(
    fc.property(chosen, ([size, indexes]) => {
      const leaves = leavesOf(size);
      const proof = proofOf(leaves, new Set(indexes));
      expect(toHex(proof.root())).toBe(toHex(mth(leaves)));
      const shown = indexes.map((index) => ({ index, hash: leaves[index] ?? new Uint8Array() }));
      expect(toHex(rootOfShown(size, shown, proof.hashes()) ?? new Uint8Array())).toBe(toHex(mth(leaves)));
    }),
  );
});

test('a leaf at another place, a changed leaf, and a hash too few or too many do not', () => {
  fc.assert(
    fc.property(
      chosen.filter(([, indexes]) => indexes.length > 0),
      fc.nat(),
      ([size, indexes], pick) => {
        const leaves = leavesOf(size);
        const hashes = proofOf(leaves, new Set(indexes)).hashes();
        const root = toHex(mth(leaves));
        const shown = indexes.map((index) => ({ index, hash: leaves[index] ?? new Uint8Array() }));
        const at = pick % shown.length;
        const rootWith = (...input: Parameters<typeof rootOfShown>) => toHex(rootOfShown(...input) ?? new Uint8Array());
        const changed = shown.map((leaf, i) => (i === at ? { ...leaf, hash: hashOf('other') } : leaf));
        expect(rootWith(size, changed, hashes)).not.toBe(root);
        const moved = shown.map((leaf, i) => (i === at ? { ...leaf, index: leaf.index + 1 } : leaf));
        expect(rootWith(size, moved, hashes)).not.toBe(root);
        expect(rootWith(size, shown, [...hashes, hashOf()])).not.toBe(root);
        if (hashes.length > 0) expect(rootWith(size, shown, hashes.slice(1))).not.toBe(root);
        expect(rootWith(size, [...shown].reverse().concat(shown), hashes)).not.toBe(root);
      },
    ),
  );
});

test('hostile sizes and indexes are refused, not computed', () => {
  const hash = hashOf('leaf');
  for (const size of [0, -1, 0.5, Number.NaN, 2 ** 53]) expect(rootOfShown(size, [], [hash])).toBeNull();
  expect(rootOfShown(Number.MAX_SAFE_INTEGER, [{ index: 5, hash }], [])).toBeNull();
  expect(rootOfShown(2, [{ index: 2, hash }], [hash])).toBeNull();
  expect(rootOfShown(2, [{ index: 0, hash: hash.slice(1) }], [hash])).toBeNull();
});
