import { z } from 'zod';
import { utf8 } from '../crypto/encoding.js';
import { canonicalJson } from '../json/canonical-json.js';
import { leafHash } from '../merkle/hashing.js';
import { treeRoot } from '../merkle/tree.js';
import { Count, Instant, Sha256Hex, StreamName } from './primitives.js';

/**
 * A batch of entries, as the ledger tree holds it. Its canonical text is the content of leaf
 * `number` of the ledger tree.
 */
export const BatchHeader = z.strictObject({
  v: z.literal(1),
  /** Index of the batch in the ledger tree, from 0. */
  number: Count,
  /** Number of leaves; 0 for a batch that only makes room for a checkpoint. */
  count: Count,
  /** RFC 6962 root over the entries' leaf hashes, in log order. */
  root: Sha256Hex,
  /** RFC 6962 root over the `StreamRun`s of the batch, sorted by stream. */
  streams_root: Sha256Hex,
  /** max(clock, `sealed_at` of the batch before). The service's claim. */
  sealed_at: Instant,
  /**
   * The newest time stamp response that existed when this batch was sealed: the sealing came after
   * it. Null before the first.
   */
  after: z.strictObject({ size: Count, sha256: Sha256Hex }).nullable(),
});
export type BatchHeader = z.infer<typeof BatchHeader>;

/** The run of one stream's revisions in a batch, both ends included. */
export const StreamRun = z.strictObject({ stream: StreamName, first: Count, last: Count });
export type StreamRun = z.infer<typeof StreamRun>;

export function batchHeaderText(header: BatchHeader): string {
  return canonicalJson(header);
}

/** The batch's leaf in the ledger tree, 32 bytes. */
export function batchLeaf(headerText: string): Uint8Array {
  return leafHash(utf8(headerText));
}

/** The leaf of a stream's run under `streams_root`, 32 bytes. */
export function streamRunLeaf(run: StreamRun): Uint8Array {
  return leafHash(utf8(canonicalJson({ first: run.first, last: run.last, stream: run.stream })));
}

/** A batch's runs in the order of `streams_root`: by stream name, UTF-16 code units. */
export function sortedRuns(runs: readonly StreamRun[]): readonly StreamRun[] {
  return [...runs].sort((a, b) => (a.stream < b.stream ? -1 : 1));
}

/** The root over a batch's runs, 32 bytes. */
export function streamsRoot(runs: readonly StreamRun[]): Uint8Array {
  return treeRoot(sortedRuns(runs).map(streamRunLeaf));
}
