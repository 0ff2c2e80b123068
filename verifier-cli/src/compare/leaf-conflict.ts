import { toHex } from '../../../schemas/crypto/encoding.js';
import { BatchHeader, runLeaf } from '../../../schemas/evidence/batch-header.js';
import type { ContradictionFile } from '../../../schemas/evidence/contradiction.js';
import { type BatchLine, PACKAGE_FILES, TagLine } from '../../../schemas/evidence/package-lines.js';
import { personTagLeaf } from '../../../schemas/evidence/person-tag.js';
import { PROOF_LIMITS } from '../../../schemas/evidence/proof-limits.js';
import { firstCovered } from '../../../schemas/evidence/roll-ups.js';
import { fewerShown } from '../../../schemas/merkle/shown-leaves.js';
import { parseShape } from '../files/parse.js';
import type { History } from './history.js';
import { type KeyedLeaf, type LeavesOf, leavesProblem, type Tree } from './leaves-problem.js';

type LeavesFile = Extract<ContradictionFile, { kind: 'leaves' }>['first'];

/** A tree as a package shows it. */
interface ShownTree extends LeavesOf {
  readonly line: BatchLine;
  readonly hashes: readonly Uint8Array[];
}

/**
 * Looks for trees of which two packages show contradictory leaves: first streams, then tags. The caller must pass each
 * to `verifyContradiction`.
 */
export async function* leafConflicts(a: History, b: History): AsyncGenerator<LeavesPair, void> {
  for (const [tree, read] of [
    ['streams', streamsOf],
    ['tags', tagsOf],
  ] as const) {
    yield* conflictsIn(tree, read, a, b);
    yield* conflictsIn(tree, read, b, a);
  }
}

interface LeavesPair {
  readonly first: LeavesFile;
  readonly second: LeavesFile;
}

async function* conflictsIn(
  tree: Tree,
  read: (history: History, number: number) => Promise<ShownTree | null>,
  one: History,
  other: History,
): AsyncGenerator<LeavesPair, void> {
  for (const number of one.batches.keys()) {
    for (const counterpart of [number, ...rollUpsIn(other, number)]) {
      const first = await read(one, number);
      const second = await read(other, counterpart);
      const pair = first === null || second === null ? null : conflictOf(first, second);
      if (pair === null || first === null || second === null) continue;
      yield { first: fileOf(one, first, tree, pair.first), second: fileOf(other, second, tree, pair.second) };
    }
  }
}

function rollUpsIn({ batches }: History, number: number): readonly number[] {
  return [...batches.keys()].filter((other) => other > number && firstCovered(other) <= number);
}

/** The few leaves that contradict each other, or null if none do. */
function conflictOf(
  first: ShownTree,
  second: ShownTree,
): { readonly first: readonly KeyedLeaf[]; readonly second: readonly KeyedLeaf[] } | null {
  if (leavesProblem(first, second) === null) return null;
  for (const leaf of first.leaves) {
    const neighbours = neighboursOf(second, leaf);
    const problem = leavesProblem({ ...first, leaves: [leaf] }, { ...second, leaves: neighbours });
    if (problem !== null) return { first: [leaf], second: neighbours };
  }
  return null;
}

/** Returns the neighbours of a leaf in another view: by the order of its key, and by its index. */
function neighboursOf({ leaves }: ShownTree, { index, key }: KeyedLeaf): readonly KeyedLeaf[] {
  const text = toHex(key);
  const chosen = [
    leaves.findLast((leaf) => toHex(leaf.key) < text),
    leaves.find((leaf) => toHex(leaf.key) >= text),
    leaves.findLast((leaf) => leaf.index < index),
    leaves.find((leaf) => leaf.index > index),
  ].filter((leaf) => leaf !== undefined);
  return [...new Set(chosen)].sort((a, b) => a.index - b.index);
}

function fileOf({ newest }: History, shown: ShownTree, tree: Tree, leaves: readonly KeyedLeaf[]): LeavesFile {
  const { header, line } = shown;
  const size = tree === 'tags' ? header.tags_count : header.streams_count;
  const all = shown.leaves.map((leaf) => ({ index: leaf.index, hash: leafOf(tree, leaf) }));
  const hashes = fewerShown(size, all, shown.hashes, new Set(leaves.map(({ index }) => index))) ?? [];
  return {
    note: newest.note,
    header: line.header,
    path: line.path.map(toHex),
    tree,
    leaves: leaves.map(({ index, key, run }) => ({
      index,
      key: toHex(key),
      ...(run !== undefined && { run }),
    })),
    hashes: hashes.map(toHex),
  };
}

function leafOf(tree: Tree, { key, run }: KeyedLeaf): Uint8Array {
  return tree === 'tags' || run === undefined ? personTagLeaf(key) : runLeaf(key, run);
}

async function streamsOf({ batches }: History, number: number): Promise<ShownTree | null> {
  const line = batches.get(number);
  const header = line === undefined ? null : headerOf(line);
  if (line === undefined || header === null) return null;
  const leaves = line.streams.map(({ index, key, ...run }): KeyedLeaf => ({ index, key, run }));
  return { header, tree: 'streams', leaves, hashes: line.hashes, line };
}

async function tagsOf({ batches, files }: History, number: number): Promise<ShownTree | null> {
  const line = batches.get(number);
  const header = line === undefined ? null : headerOf(line);
  const file = PACKAGE_FILES.tags(number);
  const size = files?.archive.get(file)?.size;
  if (line === undefined || header === null || files === null) return null;
  if (size === undefined || size > PROOF_LIMITS.fileBytes) return null;
  const leaves: KeyedLeaf[] = [];
  const hashes: Uint8Array[] = [];
  for await (const { value } of files.lines(file, TagLine, 'batch.tags')) {
    if ('hash' in value) hashes.push(value.hash);
    else leaves.push({ index: value.index, key: value.tag });
  }
  return { header, tree: 'tags', leaves, hashes, line };
}

function headerOf({ header: text }: BatchLine): BatchHeader | null {
  const parsed = parseShape(BatchHeader, text);
  return parsed.ok ? parsed.value : null;
}
