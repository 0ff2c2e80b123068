import fc from 'fast-check';
import { MerkleTree } from 'merkletreejs';
import { describe, expect, test } from 'vitest';
import { sha256 } from '../../schemas/crypto/digest.js';
import { toHex, utf8 } from '../../schemas/crypto/encoding.js';
import { emptyRoot, leafHash, nodeHash } from '../../schemas/merkle/hashing.js';
import {
  consistencyRanges,
  hashesOfRanges,
  inclusionRanges,
  type LeafRange,
  nodesOfRanges,
} from '../../schemas/merkle/proofs.js';
import { Frontier, frontierNodes, type TreeNode, treeRoot } from '../../schemas/merkle/tree.js';
import { earlierInclusion, verifyConsistency } from '../../schemas/merkle/verify-consistency.js';
import { verifyInclusion } from '../../schemas/merkle/verify-inclusion.js';

const ALL = Array.from({ length: 130 }, (_, i) => leafHash(utf8(`leaf ${i}`)));
const leaves = (size: number) => ALL.slice(0, size);

/** The definition of RFC 9162 §2.1.1, word for word. */
function definedRoot(hashes: readonly Uint8Array[]): Uint8Array {
  const [first] = hashes;
  if (first === undefined) return emptyRoot();
  if (hashes.length === 1) return first;
  let k = 1;
  while (k * 2 < hashes.length) k *= 2;
  return nodeHash(definedRoot(hashes.slice(0, k)), definedRoot(hashes.slice(k)));
}

const nodeOf = ({ level, index }: TreeNode) => definedRoot(ALL.slice(index * 2 ** level, (index + 1) * 2 ** level));
const pathOf = (ranges: readonly LeafRange[]) => hashesOfRanges(ranges, nodeOf);

/**
 * A tree of merkletreejs as the sealer builds it: leaves hashed before, 0x01 before nodes, no odd
 * node doubled.
 */
function libraryTree(size: number): MerkleTree {
  const hash = (data: Buffer) => Buffer.from(sha256(Uint8Array.of(1), data));
  return new MerkleTree(
    leaves(size).map((leaf) => Buffer.from(leaf)),
    hash,
    { hashLeaves: false, duplicateOdd: false, sort: false },
  );
}

const sizes = fc.integer({ min: 1, max: 130 });

describe('trees', () => {
  test('the empty tree', () =>
    expect(toHex(treeRoot([]))).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'));

  test.each(Array.from({ length: 131 }, (_, size) => size))('size %i has the root of the definition', (size) => {
    expect(toHex(treeRoot(leaves(size)))).toBe(toHex(definedRoot(leaves(size))));
  });

  test('a frontier goes on from any size, and stores exactly the perfect subtrees', () => {
    const stored = new Map<string, string>();
    let frontier = new Frontier();
    for (const [i, leaf] of ALL.entries()) {
      frontier = new Frontier(frontier.size, frontier.hashes);
      for (const { level, index, hash } of frontier.append(leaf)) stored.set(`${level}/${index}`, toHex(hash));
      expect(toHex(frontier.root())).toBe(toHex(treeRoot(leaves(i + 1))));
      for (const node of frontierNodes(i + 1))
        expect(stored.get(`${node.level}/${node.index}`)).toBe(toHex(nodeOf(node)));
    }
    expect(() => new Frontier(3, [])).toThrow(RangeError);
  });

  test('merkletreejs gives the same roots and paths', () => {
    for (let size = 1; size <= 130; size += 1) {
      const tree = libraryTree(size);
      expect(tree.getRoot().toString('hex')).toBe(toHex(treeRoot(leaves(size))));
    }
    for (const size of [1, 2, 3, 7, 8, 100, 129]) {
      const tree = libraryTree(size);
      for (let index = 0; index < size; index += 1) {
        const proof = tree.getProof(Buffer.from(ALL[index] ?? []), index).map(({ data }) => data.toString('hex'));
        expect(proof).toEqual(pathOf(inclusionRanges(index, size)).map(toHex));
      }
    }
  });
});

describe('proofs', () => {
  test('every honest inclusion proof verifies, and none for another index, size or leaf', () => {
    fc.assert(
      fc.property(sizes, fc.nat(), fc.nat(), (size, seed, otherSeed) => {
        const index = seed % size;
        const path = pathOf(inclusionRanges(index, size));
        const leaf = ALL[index] ?? new Uint8Array();
        const root = treeRoot(leaves(size));
        expect(verifyInclusion(index, size, leaf, path, root)).toEqual({ ok: true });
        const other = otherSeed % 130;
        if (other !== index) {
          expect(verifyInclusion(other, size, leaf, path, root).ok).toBe(false);
          expect(verifyInclusion(index, size, ALL[other] ?? new Uint8Array(), path, root).ok).toBe(false);
        }
        expect(verifyInclusion(index, size, leaf, [...path, leaf], root).ok).toBe(false);
        expect(verifyInclusion(index, size, leaf, [leaf, ...path], root).ok).toBe(false);
        if (path.length > 0) expect(verifyInclusion(index, size, leaf, path.slice(1), root).ok).toBe(false);
      }),
    );
  });

  test('every honest consistency proof verifies, and none between other sizes or roots', () => {
    fc.assert(
      fc.property(sizes, sizes, fc.nat({ max: 255 }), (a, b, bit) => {
        const [first, second] = a < b ? [a, b] : [b, a];
        const path = pathOf(consistencyRanges(first, second));
        const [firstRoot, secondRoot] = [treeRoot(leaves(first)), treeRoot(leaves(second))];
        expect(verifyConsistency(first, second, firstRoot, secondRoot, path)).toEqual({ ok: true });
        const flipped = firstRoot.map((byte, i) => (i === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte));
        expect(verifyConsistency(first, second, flipped, secondRoot, path).ok).toBe(false);
        expect(verifyConsistency(first, second, firstRoot, flipped, path).ok).toBe(false);
        if (first === second) return;
        expect(verifyConsistency(second, first, secondRoot, firstRoot, path).ok).toBe(false);
        expect(verifyConsistency(first, second, secondRoot, firstRoot, path).ok).toBe(false);
        expect(verifyConsistency(first, second, firstRoot, secondRoot, path.slice(1)).ok).toBe(false);
        expect(verifyConsistency(first, second, firstRoot, secondRoot, [...path, firstRoot]).ok).toBe(false);
      }),
    );
  });

  test('the inclusion proof in an earlier tree follows from a later one and a consistency proof', () => {
    for (const [first, second, newest] of [
      ...[1, 2, 3, 4, 6, 7, 8, 11, 12, 63, 64, 65, 100, 127, 128].map((size) => [size, size + 1, 130] as const),
      ...[1, 5, 8, 13].map((size) => [size, 29, 130] as const),
    ]) {
      const sizes = { first, second, firstRoot: definedRoot(leaves(first)) };
      const consistency = pathOf(consistencyRanges(first, second));
      for (let index = 0; index < first; index += 1) {
        const path = earlierInclusion(index, pathOf(inclusionRanges(index, newest)), sizes, consistency);
        expect(path, `${index} of ${first}`).toEqual(pathOf(inclusionRanges(index, first)));
      }
      expect(earlierInclusion(first, [], sizes, consistency)).toBeNull();
      expect(earlierInclusion(0, [], sizes, consistency.slice(1))).toBeNull();
    }
  });

  test('an inner node is no leaf', () => {
    const node = nodeHash(ALL[0] ?? new Uint8Array(), ALL[1] ?? new Uint8Array());
    const path = pathOf(inclusionRanges(0, 4)).slice(1);
    expect(verifyInclusion(0, 4, node, path, treeRoot(leaves(4))).ok).toBe(false);
    expect(toHex(leafHash(node))).not.toBe(toHex(node));
  });

  test.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, 2 ** 64])(
    'hostile number %d is refused',
    (number) => {
      const [leaf = new Uint8Array()] = ALL;
      expect(verifyInclusion(number, 5, leaf, [], leaf).ok).toBe(false);
      expect(verifyInclusion(0, number, leaf, [], leaf).ok).toBe(false);
      expect(verifyConsistency(number, 5, leaf, leaf, []).ok).toBe(false);
      expect(verifyConsistency(1, number, leaf, leaf, []).ok).toBe(false);
    },
  );

  test('large trees are walked exactly, beyond 32 bits', () => {
    const size = 2 ** 52 + 1;
    const ranges = inclusionRanges(2 ** 52, size);
    expect(ranges).toEqual([{ start: 0, end: 2 ** 52 }]);
    expect(nodesOfRanges(ranges)).toEqual([{ level: 52, index: 0 }]);
    const [leaf = new Uint8Array(), sibling = new Uint8Array()] = ALL;
    expect(verifyInclusion(2 ** 52, size, leaf, [sibling], nodeHash(sibling, leaf)).ok).toBe(true);
    expect(verifyInclusion(0, size, leaf, [sibling], nodeHash(leaf, sibling)).ok).toBe(false);
  });
});
