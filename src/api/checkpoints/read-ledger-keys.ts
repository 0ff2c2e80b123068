import type pg from 'pg';
import { z } from 'zod';

/** A key of the ledger, as a verifier-key line, and how it came to be: by the checkpoint that the key before it and it signed. */
export interface LedgerKey {
  readonly key: string;
  /** Null of the first one. */
  readonly replaces: string | null;
  readonly bridge_size: number | null;
  /** Path of the note that both keys signed. */
  readonly bridge: string | null;
  readonly published_at: string;
}

const Rows = z.array(
  z.object({
    key: z.string(),
    replaces: z.string().nullable(),
    bridge_size: z.int().nullable(),
    published_at: z.date(),
  }),
);

/** Every key that the ledger has published, the oldest first: the last one is in force. */
export async function readLedgerKeys(pool: pg.Pool): Promise<readonly LedgerKey[]> {
  const { rows } = await pool.query(
    'select key, replaces, bridge_size, published_at from ledger_keys order by bridge_size nulls first',
  );
  return Rows.parse(rows).map(({ published_at, ...row }) => ({
    ...row,
    bridge: row.bridge_size === null ? null : `/checkpoints/${row.bridge_size}/note`,
    published_at: published_at.toISOString(),
  }));
}
