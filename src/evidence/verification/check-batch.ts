import { sha256 } from '../../../schemas/crypto/digest.js';
import { equalBytes, fromHex, toHex, utf8 } from '../../../schemas/crypto/encoding.js';
import { BatchHeader, batchHeaderText, batchLeaf } from '../../../schemas/evidence/batch-header.js';
import { type Checkpoint, parseCheckpoint } from '../../../schemas/evidence/checkpoint.js';
import { entryLeaf, entryText } from '../../../schemas/evidence/entry.js';
import { parseNote, parseVerifierKey } from '../../../schemas/evidence/signed-note.js';
import { inclusionRanges } from '../../../schemas/merkle/proofs.js';
import { treeRoot } from '../../../schemas/merkle/tree.js';
import { verifyInclusion } from '../../../schemas/merkle/verify-inclusion.js';
import { parseTimestamp } from '../../../schemas/rfc3161/cms/token.js';
import { MalformedInput } from '../../../schemas/rfc3161/errors.js';
import { readBatchLeaves, readTreeProof } from '../../pipeline/ledger/batch-nodes.js';
import { isSignedBy } from '../../pipeline/ledger/ledger-rules.js';
import { readLedgerKeys } from '../../pipeline/ledger/read-ledger.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { LeafRow, SealedEvidence, StampedCheckpoint, TokenRow } from './sealed-evidence.js';

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
 * @param onDamagedNodes called with the number of a batch whose stored tree nodes do not lead to its root although its
 *   leaves do; the nodes are only a cache, so the leaves decide
 * @returns null if the record is in no batch yet, false if a check fails, or the batch's number and its ledger-tree
 * leaf
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

/**
 * Checks that a stamped checkpoint covers a batch. A published key of the ledger must have signed
 * its note. The ledger tree must lead from the batch to its root. Each of its tokens must cover the
 * note's bytes. The signatures of the tokens are not verified here.
 * @param batch number of the batch, and its leaf in the ledger tree
 */
export async function checkCheckpoint(
  db: Queryable,
  row: StampedCheckpoint,
  batch: { readonly number: number; readonly leaf: Uint8Array },
): Promise<boolean> {
  const checkpoint = await signedCheckpoint(db, row.note);
  if (checkpoint === null || checkpoint.size !== row.size || !haveTokens(row)) return false;
  const path = await readTreeProof(db, inclusionRanges(batch.number, checkpoint.size));
  return path !== null && verifyInclusion(batch.number, checkpoint.size, batch.leaf, path, checkpoint.root).ok;
}

async function signedCheckpoint(db: Queryable, text: string): Promise<Checkpoint | null> {
  const note = parseNote(text);
  const checkpoint = note === null ? null : parseCheckpoint(note.text);
  if (note === null || checkpoint === null) return null;
  for (const { key, ml_dsa_key: mlDsaKey } of await readLedgerKeys(db)) {
    const lines = [key, mlDsaKey];
    if (lines.some((line) => parseVerifierKey(line)?.name !== checkpoint.origin)) continue;
    if (await isSignedBy(note, lines)) return checkpoint;
  }
  return null;
}

/** Returns whether all tokens are stored and cover the note, and the stored time is that of the earliest. */
function haveTokens({ note, tokens, stored, gen_time }: StampedCheckpoint): boolean {
  const earliest = Math.min(...stored.map((token) => token.gen_time.getTime()));
  return tokens === stored.length && earliest === gen_time.getTime() && stored.every((token) => isTokenOf(note, token));
}

function isTokenOf(note: string, { tsr, tsr_sha256, gen_time }: TokenRow): boolean {
  if (toHex(sha256(tsr)) !== tsr_sha256) return false;
  try {
    const info = parseTimestamp(tsr).tstInfo;
    if (info === undefined || info.genTime.date.getTime() !== gen_time.getTime()) return false;
    const { digest } = info.imprint;
    // An authority may require a longer hash than SHA-256. Only the offline verifier checks such an imprint.
    return digest.length !== 32 || equalBytes(digest, sha256(utf8(note)));
  } catch (error) {
    if (error instanceof MalformedInput) return false;
    throw error;
  }
}
