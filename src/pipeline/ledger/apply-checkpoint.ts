import { sha256 } from '../../../schemas/crypto/digest.js';
import { equalBytes, toHex } from '../../../schemas/crypto/encoding.js';
import type { CheckpointStampedBody } from '../../../schemas/events/ledger.js';
import { parseCheckpoint } from '../../../schemas/evidence/checkpoint.js';
import { parseNote, parseVerifierKey, verifyNote } from '../../../schemas/evidence/signed-note.js';
import type { Queryable } from '../../platform/database/pool.js';
import { LedgerCorrupt } from './errors.js';
import { type LedgerState, readLedgerRoot } from './ledger-state.js';

/** A checkpoint that transfers the ledger to another key. */
export interface KeyBridge {
  readonly key: string;
  readonly replaces: string;
}

/**
 * Checks a time stamp of a checkpoint: the ledger's key must have signed its note over a root of the
 * tree. A bridging checkpoint must also be signed by the new key. While a checkpoint has too few time
 * stamps, each further one must be over the same note.
 * @returns the key change, if it is one
 * @throws LedgerCorrupt
 */
export async function checkCheckpoint(
  db: Queryable,
  state: LedgerState,
  body: CheckpointStampedBody,
): Promise<KeyBridge | null> {
  const revision = state.revision + 1;
  const note = parseNote(body.note);
  const checkpoint = note === null ? null : parseCheckpoint(note.text);
  const key = state.key === null ? null : parseVerifierKey(state.key);
  if (note === null || checkpoint === null) throw new LedgerCorrupt(revision, 'its note is not a checkpoint');
  if (key === null) throw new LedgerCorrupt(revision, 'no ledger key was published before it');
  if ((await verifyNote(note, key)) !== 'signed')
    throw new LedgerCorrupt(revision, 'its note is not signed by the ledger');
  if (checkpoint.size !== body.size || body.size > state.size || body.size <= (state.stamped?.size ?? 0)) {
    throw new LedgerCorrupt(revision, `a checkpoint of size ${body.size} does not belong here`);
  }
  const { pending } = state;
  if (pending !== null && (pending.size !== body.size || pending.note !== body.note)) {
    throw new LedgerCorrupt(revision, `checkpoint ${pending.size} has too few time stamps, and this is another one`);
  }
  if (body.number !== (pending?.tokens.length ?? 0) + 1) {
    throw new LedgerCorrupt(revision, `time stamp ${body.number} of checkpoint ${body.size} does not belong here`);
  }
  if (!equalBytes(checkpoint.root, await readLedgerRoot(db, body.size))) {
    throw new LedgerCorrupt(revision, 'its root is not that of the ledger tree');
  }
  if (checkpoint.nextKey === null || state.key === null) return null;
  const next = parseVerifierKey(checkpoint.nextKey);
  if (next === null || next.name !== key.name || checkpoint.nextKey === state.key) {
    throw new LedgerCorrupt(revision, 'it hands over to a key that cannot follow');
  }
  if ((await verifyNote(note, next)) !== 'signed')
    throw new LedgerCorrupt(revision, 'the key that it hands over to did not sign it');
  return { key: checkpoint.nextKey, replaces: state.key };
}

/**
 * Stores a checked time stamp. With the last one of its quorum, it also stores the checkpoint and the
 * key of a bridge. From then on the new key signs, and no evidence package may contain the checkpoint
 * without the bridge.
 * @param db in a transaction that locks the row of `sealer_state`
 */
export async function insertCheckpoint(
  db: Queryable,
  body: CheckpointStampedBody,
  bridge: KeyBridge | null,
): Promise<void> {
  await db.query(
    `insert into checkpoint_tokens
       (size, number, note, tsr, tsr_sha256, gen_time, authority, organization, certificates, crls, ocsp)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    [
      body.size,
      body.number,
      body.note,
      body.tsr,
      toHex(sha256(body.tsr)),
      body.gen_time,
      body.authority,
      body.organization,
      body.certificates,
      body.crls,
      body.ocsp,
    ],
  );
  if (body.number < body.quorum) return;
  await db.query(
    `insert into checkpoints (size, note, tokens, gen_time, authorities, certificates, crls, ocsp)
     select size, min(note), count(*), min(gen_time), array_agg(authority order by number),
            array(select distinct unnest(certificates) from checkpoint_tokens where size = $1 order by 1),
            array(select distinct unnest(crls) from checkpoint_tokens where size = $1 order by 1),
            array(select distinct unnest(ocsp) from checkpoint_tokens where size = $1 order by 1)
       from checkpoint_tokens where size = $1 group by size`,
    [body.size],
  );
  if (bridge === null) return;
  await db.query('insert into ledger_keys (key, replaces, bridge_size, published_at) values ($1, $2, $3, $4)', [
    bridge.key,
    bridge.replaces,
    body.size,
    body.gen_time,
  ]);
}
