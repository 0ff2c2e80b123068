import { sha256 } from '../../../schemas/crypto/digest.js';
import { equalBytes, toHex, utf8 } from '../../../schemas/crypto/encoding.js';
import { type Checkpoint, parseCheckpoint } from '../../../schemas/evidence/checkpoint.js';
import { parseNote, parseVerifierKey } from '../../../schemas/evidence/signed-note.js';
import { inclusionRanges } from '../../../schemas/merkle/proofs.js';
import { verifyInclusion } from '../../../schemas/merkle/verify-inclusion.js';
import { parseTimestamp } from '../../../schemas/rfc3161/cms/token.js';
import { MalformedInput } from '../../../schemas/rfc3161/errors.js';
import { readTreeProof } from '../../pipeline/ledger/batch-nodes.js';
import { isSignedBy } from '../../pipeline/ledger/ledger-rules.js';
import { readLedgerKeys } from '../../pipeline/ledger/read-ledger.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { StampedCheckpoint, TokenRow } from './sealed-evidence.js';

/**
 * Checks that a stamped checkpoint covers a batch. A published key of the ledger must have signed
 * its note. The ledger tree must lead from the batch to its root. Each of its tokens must cover the
 * note's bytes. The signatures of the tokens are not verified here.
 * @param batch its number, and its leaf in the ledger tree
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

/** Whether all tokens are stored, are over the note, and the time is that of the earliest. */
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
    // An authority may require a longer hash than SHA-256. The offline verifier then checks the
    // imprint.
    return digest.length !== 32 || equalBytes(digest, sha256(utf8(note)));
  } catch (error) {
    if (error instanceof MalformedInput) return false;
    throw error;
  }
}
