import { fromHex, toHex } from '../../../schemas/crypto/encoding.js';
import { BatchHeader, batchHeaderText, batchLeaf } from '../../../schemas/evidence/batch-header.js';
import type { Checkpoint } from '../../../schemas/evidence/checkpoint.js';
import type { ProvedBatch, ProvedEntry, ProvedEntryFile } from '../../../schemas/evidence/contradiction.js';
import { Entry, entryLeaf } from '../../../schemas/evidence/entry.js';
import { type BatchLine, type EntryLine, PACKAGE_FILES, ProofLine } from '../../../schemas/evidence/package-lines.js';
import { PROOF_LIMITS } from '../../../schemas/evidence/proof-limits.js';
import { hashesOfRanges, inclusionRanges } from '../../../schemas/merkle/proofs.js';
import { treeRoot } from '../../../schemas/merkle/tree.js';
import { verifyInclusion } from '../../../schemas/merkle/verify-inclusion.js';
import type { PackageFiles } from '../files/package-files.js';
import { parseShape } from '../files/parse.js';

/** A proof is invalid. The message gives the reason as readable text. */
export class NotProved extends Error {}

/**
 * Verifies that a Merkle batch is in the ledger of a checkpoint (RFC 9162 §2.1.3.2).
 * @throws NotProved
 */
export function provedBatch({ header: text, path }: ProvedBatch, { size, root }: Checkpoint): BatchHeader {
  const parsed = parseShape(BatchHeader, text);
  if (!parsed.ok || batchHeaderText(parsed.value) !== text) throw new NotProved('a batch header is malformed');
  const verdict = verifyInclusion(parsed.value.number, size, batchLeaf(text), path, root);
  if (!verdict.ok) throw new NotProved(`a batch is not in the ledger: ${verdict.reason}`);
  return parsed.value;
}

/**
 * Returns an entry with its batch after proving that both are in the ledger of a checkpoint (RFC 9162 §2.1.3.2).
 * @throws NotProved
 */
export function provedEntry(
  proof: ProvedEntry,
  checkpoint: Checkpoint,
): { readonly entry: Entry; readonly header: BatchHeader } {
  const header = provedBatch(proof, checkpoint);
  const parsed = parseShape(Entry, proof.entry);
  if (!parsed.ok) throw new NotProved('an entry is malformed');
  const root = fromHex(header.root ?? '') ?? new Uint8Array();
  const verdict = verifyInclusion(proof.index, header.count, entryLeaf(proof.entry), proof.entry_path, root);
  if (!verdict.ok) throw new NotProved(`an entry is not in its batch: ${verdict.reason}`);
  return { entry: parsed.value, header };
}

/**
 * Collects the proof that an entry of a package is in the ledger of a checkpoint.
 * @param note the checkpoint's note
 * @param batch line of the entry's batch, whose path leads to that checkpoint
 * @returns null if something is missing
 */
export async function proofOfEntryIn(
  files: PackageFiles,
  note: string,
  batch: BatchLine,
  line: EntryLine,
): Promise<ProvedEntryFile | null> {
  const header = parseShape(BatchHeader, batch.header);
  const path = header.ok ? await entryPath(files, line, header.value.count) : null;
  if (path === null) return null;
  return {
    note,
    header: batch.header,
    path: batch.path.map(toHex),
    entry: line.entry,
    index: line.index,
    entry_path: path.map(toHex),
  };
}

async function entryPath(
  files: PackageFiles,
  { batch, index }: EntryLine,
  count: number,
): Promise<readonly Uint8Array[] | null> {
  const file = PACKAGE_FILES.proofs(batch);
  if ((files.archive.get(file)?.size ?? 0) > PROOF_LIMITS.fileBytes) return null;
  const leaves: Uint8Array[] = [];
  for await (const { value } of files.lines(file, ProofLine, 'entry.inclusion')) {
    if ('leaf' in value) leaves.push(value.leaf);
    else if (value.index === index) return value.path;
    if (leaves.length > count) return null;
  }
  if (leaves.length !== count || index >= count) return null;
  return hashesOfRanges(inclusionRanges(index, count), (node) =>
    treeRoot(leaves.slice(node.index * 2 ** node.level, (node.index + 1) * 2 ** node.level)),
  );
}
