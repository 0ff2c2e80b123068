import * as z from 'zod';
import type { Queryable } from '../../platform/database/pool.js';
import { type RowSeals, readSealed, SealedBytes, SealedTime } from '../../platform/keys/index.js';

/** Stored state of a user's second factor. */
export interface StoredFactor {
  /** Encrypted; null: none, and none was begun. */
  readonly sealedSecret: Uint8Array | null;
  /** Null: the user has not proved to have the secret, and it does not count. */
  readonly confirmedAt: Date | null;
  /** Step of the last code that was used. */
  readonly lastStep: number | null;
  /** Digests of the recovery codes that were not used. */
  readonly recoveryDigests: readonly string[];
}

const Columns = z.object({
  totp_secret: SealedBytes.nullable(),
  totp_confirmed_at: SealedTime.nullable(),
  totp_last_step: z.int().nullable(),
  recovery_digests: z.array(z.string()),
});

/**
 * Reads the second factor of an enabled user.
 * @param lock whether the row stays locked until the end of the transaction
 * @returns null if there is no such user, or the row was altered
 */
export async function readStoredFactor(
  db: Queryable,
  seals: RowSeals,
  userId: string,
  lock: 'locked' | 'unlocked',
): Promise<StoredFactor | null> {
  const where = `id = $1 and disabled_at is null ${lock === 'locked' ? 'for no key update' : ''}`;
  const row = await readSealed(db, seals, { table: 'users', where, values: [userId] }, Columns);
  if (row === null) return null;
  return {
    sealedSecret: row.totp_secret,
    confirmedAt: row.totp_confirmed_at,
    lastStep: row.totp_last_step,
    recoveryDigests: row.recovery_digests,
  };
}
