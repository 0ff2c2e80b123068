import { splitBytes, toHex } from '../../../schemas/crypto/encoding.js';
import type { BatchSealedBody } from '../../../schemas/events/ledger.js';
import { POLICY_STREAM } from '../../../schemas/events/streams.js';
import {
  BatchHeader,
  batchHeaderText,
  isBatch,
  type RevisionRun,
  type StreamKeyOf,
  streamsRoot,
  tiledRuns,
} from '../../../schemas/evidence/batch-header.js';
import { PERSON_TAG_BYTES, personTagLeaf } from '../../../schemas/evidence/person-tag.js';
import { treeRoot } from '../../../schemas/merkle/tree.js';
import { LedgerCorrupt } from './errors.js';
import type { FollowedLedger, LedgerState, SealedLeaf } from './ledger-state.js';

/**
 * Sorts person tags as `tags_root` commits to them.
 * @throws RangeError if a tag occurs twice: a proof of absence by two neighbours would prove nothing
 */
export function sortedTags(tags: readonly Uint8Array[]): readonly Uint8Array[] {
  const sorted = [...tags].sort(Buffer.compare);
  for (const [i, tag] of sorted.entries()) {
    const before = sorted[i - 1];
    if (before !== undefined && Buffer.compare(before, tag) === 0) throw new RangeError('a person tag occurs twice');
  }
  return sorted;
}

/** The root over sorted tags, in hex. */
export function tagsRoot(sorted: readonly Uint8Array[]): string {
  return toHex(treeRoot(sorted.map(personTagLeaf)));
}

/** Splits concatenated tags. @returns null if the length is wrong */
export function splitTags(bytes: Uint8Array): readonly Uint8Array[] | null {
  return splitBytes(bytes, PERSON_TAG_BYTES);
}

/** Consecutive revisions of one stream among the leaves of a Merkle batch: stream, first, last. */
export type Run = readonly [stream: string, first: number, last: number];

/** Sorts leaves as a Merkle batch holds them: by stream key, then by revision. */
export function sortedLeaves(leaves: readonly SealedLeaf[], keyOf: StreamKeyOf): readonly SealedLeaf[] {
  return [...leaves].sort((a, b) => {
    if (a.stream === b.stream) return a.revision - b.revision;
    return keyOf(a.stream) < keyOf(b.stream) ? -1 : 1;
  });
}

/** Returns the leaves of a batch as runs, in order. */
export function runsOf(leaves: readonly Pick<SealedLeaf, 'stream' | 'revision'>[]): Run[] {
  const runs: [string, number, number][] = [];
  for (const { stream, revision } of leaves) {
    const current = runs.at(-1);
    if (current?.[0] === stream && current[2] === revision - 1) current[2] = revision;
    else runs.push([stream, revision, revision]);
  }
  return runs;
}

/** Returns whether runs can be those of a Merkle batch: at least one, one for each stream, sorted by key. */
export function areBatchRuns(runs: readonly Run[], keyOf: StreamKeyOf): boolean {
  let before = '';
  for (const [stream, first, last] of runs) {
    const key = keyOf(stream);
    if (last < first || key <= before) return false;
    before = key;
  }
  return true;
}

/** The runs with names. */
export function namedRuns(runs: readonly Run[]): RevisionRun[] {
  return runs.map(([stream, first, last]) => ({ stream, first, last }));
}

function countOf(runs: readonly Run[]): number {
  return runs.reduce((sum, [, first, last]) => sum + last - first + 1, 0);
}

/**
 * Checks that a sealed batch or roll-up continues the ledger, and that its header commits to its runs
 * and tags.
 * @param state the state at the revision of the event, before the batch
 * @throws LedgerCorrupt
 */
export function batchHeaderOf(state: FollowedLedger, body: BatchSealedBody): BatchHeader {
  const { revision } = state;
  const header = parseHeader(revision, body.header);
  if (header.number !== state.size)
    throw new LedgerCorrupt(revision, `batch ${header.number} follows ${state.size - 1}`);
  if (state.sealedAt !== null && Date.parse(header.sealed_at) < state.sealedAt.getTime())
    throw new LedgerCorrupt(revision, 'it was sealed before the batch before it');
  const own = body.runs.reduce(
    (sum, [stream, first, last]) => sum + (stream === POLICY_STREAM ? last - first + 1 : 0),
    0,
  );
  if (header.policies !== state.policies + own) throw new LedgerCorrupt(revision, 'its count of policies is wrong');
  const newest = newestResponse(state);
  if (header.after?.size !== newest?.size || header.after?.sha256 !== newest?.sha256)
    throw new LedgerCorrupt(revision, 'it does not name the newest time stamp before it');
  if (isBatch(header.level)) assertCommits(state, header, body);
  else if (body.runs.length > 0 || body.tags.length > 0) throw new LedgerCorrupt(revision, 'a roll-up has no leaves');
  return header;
}

/** Returns the newest time stamp response, even if its checkpoint does not have enough of them. */
export function newestResponse({ pending, stamped }: LedgerState): BatchHeader['after'] {
  const last = pending?.tokens.at(-1);
  if (pending !== null && last !== undefined) return { size: pending.size, sha256: last.sha256 };
  return stamped === null ? null : { size: stamped.size, sha256: stamped.sha256 };
}

function assertCommits({ revision, keyOf }: FollowedLedger, header: BatchHeader, body: BatchSealedBody): void {
  if (!areBatchRuns(body.runs, keyOf))
    throw new LedgerCorrupt(revision, 'the runs are empty, repeated or not in order');
  if (header.count !== countOf(body.runs)) throw new LedgerCorrupt(revision, 'count and runs differ');
  const runs = tiledRuns(namedRuns(body.runs), keyOf);
  if (header.streams_count !== runs.length || toHex(streamsRoot(runs)) !== header.streams_root)
    throw new LedgerCorrupt(revision, 'streams_root and runs differ');
  const tags = splitTags(body.tags);
  if (tags === null || header.tags_count !== tags.length || rootOfTags(revision, tags) !== header.tags_root)
    throw new LedgerCorrupt(revision, 'tags_root and tags differ');
}

function rootOfTags(revision: number, tags: readonly Uint8Array[]): string {
  try {
    return tagsRoot(sortedTags(tags));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new LedgerCorrupt(revision, error.message);
  }
}

function parseHeader(revision: number, text: string): BatchHeader {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new LedgerCorrupt(revision, 'the header is not JSON');
  }
  const parsed = BatchHeader.safeParse(json);
  if (!parsed.success || batchHeaderText(parsed.data) !== text) {
    throw new LedgerCorrupt(revision, 'the header is not the canonical text of a batch header');
  }
  return parsed.data;
}
