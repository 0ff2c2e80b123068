import { z } from 'zod';
import type { LedgerKey } from '../../../schemas/api/checkpoints.js';
import type { Queryable } from '../../platform/database/pool.js';

const Rows = z.array(
  z.object({
    key: z.string(),
    ml_dsa_key: z.string(),
    replaces: z.string().nullable(),
    bridge_size: z.int().nullable(),
    published_at: z.date(),
  }),
);

/** Every key that the ledger has published, oldest first; the last one is in force. */
export async function readLedgerKeys(db: Queryable): Promise<readonly LedgerKey[]> {
  const { rows } = await db.query(
    'select key, ml_dsa_key, replaces, bridge_size, published_at from ledger_keys order by bridge_size nulls first',
  );
  return Rows.parse(rows).map(({ published_at, ...row }) => ({
    ...row,
    bridge: row.bridge_size === null ? null : `/checkpoints/${row.bridge_size}/note`,
    published_at: published_at.toISOString(),
  }));
}
