import { equalBytes, fromHex, toHex } from '../../../schemas/crypto/encoding.js';
import { BatchHeader, batchHeaderText, batchLeaf } from '../../../schemas/evidence/batch-header.js';
import { entryLeaf, entryText } from '../../../schemas/evidence/entry.js';
import { treeRoot } from '../../../schemas/merkle/tree.js';
import { verifyInclusion } from '../../../schemas/merkle/verify-inclusion.js';
import { readBatchLeaves } from '../../pipeline/ledger/batch-nodes.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { LeafRow, SealedEvidence } from './sealed-evidence.js';

/** Receives the number of a batch whose stored tree nodes are damaged. */
export type OnDamagedNodes = (batch: number) => void;

/** The members of an entry. */
export interface StoredEntry {
  readonly stream: string;
  readonly revision: number;
  readonly event_id: string;
  readonly type: string;
  /** JCS text of the record (RFC 8785). */
  readonly record: string;
  readonly proof_hash: string | null;
}

/**
 * Checks a record's position in its batch from its stored bytes. It covers entry, leaf, hash chain,
 * the batch's root, its header, and the header's leaf in the ledger tree.
 * @param onDamagedNodes called with the number of a batch whose stored tree nodes do not lead to its
 *   root, while its leaves do: the nodes are a cache, and the leaves decide
 * @returns null if the record is in no batch yet; false if a check fails; otherwise the batch's
 *   number and its ledger-tree leaf
 */
export async function checkBatch(
  db: Queryable,
  stored: StoredEntry,
  evidence: SealedEvidence,
  onDamagedNodes: OnDamagedNodes,
): Promise<{ readonly number: number; readonly leaf: Uint8Array } | false | null> {
  const { head, claims, previous, batch, path } = evidence;
  const [claim] = claims;
  const isSealed = head !== null && head.revision >= stored.revision;
  if (claim === undefined) return isSealed ? false : null;
  if (!isSealed || claims.length !== 1 || !isHeadSound(head) || batch === null) return false;
  if (claim.stream !== stored.stream || claim.revision !== stored.revision || claim.event_id !== stored.event_id) {
    return false;
  }
  if ((stored.revision === 0) !== (previous === null)) return false;

  const leaf = leafOf(stored, previous, claim.person_tag);
  if (!equalBytes(claim.hash, leaf)) return false;

  const header = readHeader(batch.header);
  const headerRoot = header === null || header.root === null ? null : fromHex(header.root);
  if (header === null || headerRoot === null || batch.node === null) return false;
  const isHeaderOfRow =
    header.number === batch.number &&
    header.number === claim.batch &&
    header.count === batch.count &&
    batch.root !== null &&
    equalBytes(headerRoot, batch.root) &&
    header.sealed_at === batch.sealed_at.toISOString();
  if (!isHeaderOfRow) return false;
  if (path === null || !verifyInclusion(claim.index, header.count, leaf, path, headerRoot).ok) {
    const leaves = await readBatchLeaves(db, header.number);
    const isIncluded =
      leaves?.length === header.count &&
      equalBytes(leaves[claim.index] ?? new Uint8Array(), leaf) &&
      equalBytes(treeRoot(leaves), headerRoot);
    if (!isIncluded) return false;
    onDamagedNodes(header.number);
  }
  const ledgerLeaf = batchLeaf(batch.header);
  return equalBytes(ledgerLeaf, batch.node) ? { number: header.number, leaf: ledgerLeaf } : false;
}

function isHeadSound(head: NonNullable<SealedEvidence['head']>): boolean {
  return head.leaf_hash !== null && equalBytes(head.leaf, head.leaf_hash);
}

function leafOf(stored: StoredEntry, previous: LeafRow | null, tag: Uint8Array | null): Uint8Array {
  return entryLeaf(
    entryText({
      stream: stored.stream,
      revision: stored.revision,
      previous: previous === null ? null : toHex(previous.hash),
      eventId: stored.event_id,
      type: stored.type,
      recordText: stored.record,
      proofHash: stored.proof_hash,
      personTag: tag === null ? null : toHex(tag),
    }),
  );
}

function readHeader(text: string): BatchHeader | null {
  try {
    const parsed = BatchHeader.safeParse(JSON.parse(text));
    return parsed.success && batchHeaderText(parsed.data) === text ? parsed.data : null;
  } catch {
    return null;
  }
}
