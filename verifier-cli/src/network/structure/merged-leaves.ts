import { toHex } from '../../../../schemas/crypto/encoding.js';
import { runLeaf } from '../../../../schemas/evidence/batch-header.js';
import { personTagLeaf } from '../../../../schemas/evidence/person-tag.js';
import { firstCovered } from '../../../../schemas/evidence/roll-ups.js';
import {
  type FiledRun,
  KEY_BYTES,
  parseRun,
  RUN_BYTES,
  runBytes,
} from '../../../../schemas/evidence/structure-file.js';
import { Frontier } from '../../../../schemas/merkle/tree.js';
import type { Tree } from '../../compare/leaves-problem.js';
import type { StoredLeaf } from './audit-state.js';
import { type Claim, Violation } from './claim.js';
import { compareKeys, mergeRecords, type Records, RecordWriter, recordsOf, withFiles } from './records.js';

/** A leaf whose runs and tags are in a file. */
export interface LeafSource extends StoredLeaf {
  readonly path: string;
  readonly offset: number;
}

interface OpenLeaf extends StoredLeaf {
  /** The content of the leaf, from its first run. */
  readonly openRuns: () => Records;
  readonly openTags: () => Records;
}

/** Opens the files of leaves for as long as something reads them. */
export function withSources<T>(sources: readonly LeafSource[], work: (open: readonly OpenLeaf[]) => T): T {
  return withFiles(
    sources.map(({ path }) => path),
    (files) =>
      work(
        sources.map(({ path, offset, ...leaf }) => {
          const file = files.get(path) ?? -1;
          const after = offset + leaf.runs * RUN_BYTES;
          return {
            ...leaf,
            openRuns: () => recordsOf(file, { path, offset, count: leaf.runs, length: RUN_BYTES }),
            openTags: () => recordsOf(file, { path, offset: after, count: leaf.tags, length: KEY_BYTES }),
          };
        }),
      ),
  );
}

/** A run of the leaves that a roll-up covers. */
interface MergedRun extends FiledRun {
  /** Number of the first leaf that has a part of the run. */
  readonly start: number;
  /** Number of the last such leaf. */
  readonly leaf: number;
}

/** The runs of leaves in order, one for each stream. */
function* mergedRuns(leaves: readonly OpenLeaf[]): Generator<MergedRun, void> {
  const held: MergedRun[] = [];
  for (const { record, source } of mergeRecords(leaves.map(({ openRuns }) => openRuns()))) {
    const { key, first, last } = runAt(record, 0);
    const leaf = leaves[source]?.number ?? 0;
    const [before] = held;
    if (before !== undefined && compareKeys(before.key, key) === 0) {
      held[0] = { ...before, last, leaf };
      continue;
    }
    if (before !== undefined) yield before;
    held[0] = { key: key.slice(), first, last, start: leaf, leaf };
  }
  yield* held;
}

/**
 * The tags of leaves in order.
 * @param rollUp number of the roll-up over them
 * @throws Violation if two leaves have one
 */
function* mergedTags(
  leaves: readonly OpenLeaf[],
  rollUp: number,
): Generator<{ readonly tag: Uint8Array; readonly leaf: number }, void> {
  let before: { tag: Uint8Array; leaf: number } | null = null;
  for (const { record, source } of mergeRecords(leaves.map(({ openTags }) => openTags()))) {
    const leaf = leaves[source]?.number ?? 0;
    const tag = record.slice();
    if (before !== null && compareKeys(before.tag, tag) === 0)
      throw new Violation(`sealed the tag ${toHex(tag)} twice`, {
        kind: 'tag-twice',
        tag,
        below: rollUp,
      });
    before = { tag, leaf };
    yield before;
  }
}

/** Computes what a roll-up commits to. @param path file for the merged runs and tags, or null if there is none */
export function sumOf(leaves: readonly OpenLeaf[], rollUp: number, path: string | null) {
  const writer = path === null ? null : new RecordWriter(path);
  const [streams, tags] = [new Frontier(), new Frontier()];
  let count = 0;
  try {
    for (const run of mergedRuns(leaves)) {
      streams.append(runLeaf(run.key, { start: count, first: run.first, last: run.last }));
      count += run.last - run.first + 1;
      writer?.write(runBytes(run));
    }
    for (const { tag } of mergedTags(leaves, rollUp)) {
      tags.append(personTagLeaf(tag));
      writer?.write(tag);
    }
  } finally {
    writer?.end();
  }
  return { count, runs: streams.size, tags: tags.size, streamsRoot: streams.root(), tagsRoot: tags.root() };
}

/** Records of a published file, with the check that they are sorted. */
class SortedRecords {
  #before: Uint8Array | null = null;
  #index = 0;
  current: Uint8Array | null;

  constructor(
    private readonly records: Records,
    private readonly number: number,
    private readonly tree: Tree,
  ) {
    this.current = records.next();
  }

  advance(): void {
    this.#before = this.current?.slice(0, KEY_BYTES) ?? null;
    this.#index += 1;
    this.current = this.records.next();
  }

  /** The claim that the current record is not after the one before, or null if it is. */
  disorder(): Claim | null {
    const isInOrder = this.current === null || this.#before === null || compareKeys(this.#before, this.current) < 0;
    return isInOrder ? null : { kind: 'order', number: this.number, tree: this.tree, index: this.#index };
  }
}

/**
 * The first difference between leaves and the roll-up over them.
 * @param open the leaves, then the published roll-up
 * @returns null if the runs and tags are the same
 */
export function differenceOf(open: readonly OpenLeaf[], rollUp: number): Claim | null {
  const [leaves, published] = [open.slice(0, -1), open.at(-1)];
  if (published === undefined) return null;
  return runDifference(leaves, published, rollUp) ?? tagDifference(leaves, published, rollUp);
}

function runDifference(leaves: readonly OpenLeaf[], published: OpenLeaf, rollUp: number): Claim | null {
  const from = firstCovered(rollUp);
  const theirs = new SortedRecords(published.openRuns(), rollUp, 'streams');
  const surplus = (record: Uint8Array): Claim => ({
    kind: 'stream',
    key: record.slice(0, KEY_BYTES),
    number: rollUp,
    before: rollUp,
    from,
  });
  for (const { key, start, leaf, ...own } of mergedRuns(leaves)) {
    const disorder = theirs.disorder();
    if (disorder !== null) return disorder;
    const their = theirs.current;
    const order = their === null ? 1 : compareKeys(their, key);
    if (their === null || order > 0) return { kind: 'missing', tree: 'streams', key, number: leaf, rollUp };
    if (order < 0) return surplus(their);
    const { first, last } = runAt(their, 0);
    if (first < own.first) return { kind: 'stream', key, number: rollUp, before: from, from: 0 };
    if (first > own.first) return { kind: 'runs', key, first: start, second: rollUp };
    if (last < own.last) return { kind: 'runs', key, first: leaf, second: rollUp };
    if (last > own.last) return surplus(their);
    theirs.advance();
  }
  return theirs.current === null ? null : (theirs.disorder() ?? surplus(theirs.current));
}

function tagDifference(leaves: readonly OpenLeaf[], published: OpenLeaf, rollUp: number): Claim | null {
  const theirs = new SortedRecords(published.openTags(), rollUp, 'tags');
  const surplus = (tag: Uint8Array): Claim => ({ kind: 'surplus-tag', tag: tag.slice(), rollUp });
  for (const { tag, leaf } of mergedTags(leaves, rollUp)) {
    const disorder = theirs.disorder();
    if (disorder !== null) return disorder;
    const their = theirs.current;
    const order = their === null ? 1 : compareKeys(their, tag);
    if (their === null || order > 0) return { kind: 'missing', tree: 'tags', key: tag, number: leaf, rollUp };
    if (order < 0) return surplus(their);
    theirs.advance();
  }
  return theirs.current === null ? null : (theirs.disorder() ?? surplus(theirs.current));
}

/** @throws RangeError for a record that is no run: the readers of files refuse them */
export function runAt(bytes: Uint8Array, index: number): FiledRun {
  const run = parseRun(bytes.subarray(index * RUN_BYTES, (index + 1) * RUN_BYTES));
  if (run === null) throw new RangeError('a stored run is damaged: restore the newest copy of the folder');
  return run;
}
