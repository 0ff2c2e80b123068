import type { EvidenceKeptBody } from '../../../schemas/events/ledger.js';
import type { Queryable } from '../../platform/database/pool.js';

/**
 * Stores a part of what evidence needs. A part that is there already stays: two processes
 * may have added the same item.
 * @param db in a transaction that locks the row of `sealer_state`
 */
export async function insertEvidence(
  db: Queryable,
  { sha256, kind, part, parts, data }: EvidenceKeptBody,
): Promise<void> {
  await db.query(
    `insert into evidence_parts (sha256, parts, part, kind, bytes) values ($1, $2, $3, $4, $5)
     on conflict (sha256, parts, part) do nothing`,
    [sha256, parts, part, kind, data],
  );
}
