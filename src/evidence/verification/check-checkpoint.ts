import { z } from 'zod';
import { sha256 } from '../../../schemas/crypto/digest.js';
import { equalBytes, toHex, utf8 } from '../../../schemas/crypto/encoding.js';
import { type Checkpoint, parseCheckpoint } from '../../../schemas/evidence/checkpoint.js';
import { parseNote, parseVerifierKey, verifyNote } from '../../../schemas/evidence/signed-note.js';
import { inclusionRanges } from '../../../schemas/merkle/proofs.js';
import { verifyInclusion } from '../../../schemas/merkle/verify-inclusion.js';
import { parseTimestamp } from '../../../schemas/rfc3161/cms/token.js';
import { MalformedInput } from '../../../schemas/rfc3161/errors.js';
import { readTreeProof } from '../../pipeline/ledger/read-tree.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { CheckpointRow } from './sealed-evidence.js';

/**
 * Checks that a stamped checkpoint covers a batch. A published key of the ledger must have signed
 * its note. The ledger tree must lead from the batch to its root. Its token must cover the note's
 * bytes. The token's own signature is not verified here.
 * @param batch its number, and its leaf in the ledger tree
 */
export async function checkCheckpoint(
  db: Queryable,
  row: CheckpointRow,
  batch: { readonly number: number; readonly leaf: Uint8Array },
): Promise<boolean> {
  const checkpoint = await signedCheckpoint(db, row.note);
  if (checkpoint === null || checkpoint.size !== row.size || !isTokenOf(row)) return false;
  const path = await readTreeProof(db, inclusionRanges(batch.number, checkpoint.size));
  return path !== null && verifyInclusion(batch.number, checkpoint.size, batch.leaf, path, checkpoint.root).ok;
}

async function signedCheckpoint(db: Queryable, text: string): Promise<Checkpoint | null> {
  const note = parseNote(text);
  const checkpoint = note === null ? null : parseCheckpoint(note.text);
  if (note === null || checkpoint === null) return null;
  const { rows } = await db.query('select key from ledger_keys');
  for (const { key } of z.array(z.object({ key: z.string() })).parse(rows)) {
    const verifierKey = parseVerifierKey(key);
    if (verifierKey?.name !== checkpoint.origin) continue;
    if ((await verifyNote(note, verifierKey)) === 'signed') return checkpoint;
  }
  return null;
}

function isTokenOf({ note, tsr, tsr_sha256, gen_time }: CheckpointRow): boolean {
  if (toHex(sha256(tsr)) !== tsr_sha256) return false;
  try {
    const info = parseTimestamp(tsr).tstInfo;
    if (info === undefined || info.genTime.date.getTime() !== gen_time.getTime()) return false;
    const { digest } = info.imprint;
    // An authority may require a longer hash than SHA-256. The offline verifier then checks the
    // imprint.
    return digest.length !== 32 || equalBytes(digest, sha256(utf8(note)));
  } catch (error) {
    if (error instanceof MalformedInput) return false;
    throw error;
  }
}
