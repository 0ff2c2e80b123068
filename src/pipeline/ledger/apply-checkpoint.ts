import { sha256 } from '../../../schemas/crypto/digest.js';
import { toHex } from '../../../schemas/crypto/encoding.js';
import type { CheckpointStampedBody } from '../../../schemas/events/ledger.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { KeyHandover } from './ledger-rules.js';

/**
 * Stores a checked time stamp. With the last one of its quorum, it also stores the checkpoint and the
 * keys to which it hands over. From then on these sign alone.
 * @param db in a transaction that locks the row of `sealer_state`
 */
export async function insertCheckpoint(
  db: Queryable,
  body: CheckpointStampedBody,
  handover: KeyHandover | null,
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
  if (handover === null) return;
  await db.query(
    `insert into ledger_keys (key, ml_dsa_key, replaces, announced_in, handover_size, published_at)
     values ($1, $2, $3, $4, $5, $6)`,
    [handover.key, handover.mlDsaKey, handover.replaces, handover.revision, body.size, body.gen_time],
  );
}
