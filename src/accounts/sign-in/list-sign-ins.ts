import * as z from 'zod';
import type { Queryable } from '../../platform/database/pool.js';

/** An active sign-in. */
export interface ListedSignIn {
  readonly id: string;
  readonly startedAt: Date;
  readonly renewedAt: Date;
  readonly lapsesAt: Date;
  readonly expiresAt: Date;
}

/** Truncated to milliseconds, the precision of the cursor. */
const STARTED = "date_trunc('milliseconds', started_at)";

const Rows = z.array(
  z
    .object({
      id: z.string(),
      started_at: z.date(),
      renewed_at: z.date(),
      lapses_at: z.date(),
      expires_at: z.date(),
    })
    .transform(
      (row): ListedSignIn => ({
        id: row.id,
        startedAt: row.started_at,
        renewedAt: row.renewed_at,
        lapsesAt: row.lapses_at,
        expiresAt: row.expires_at,
      }),
    ),
);

/**
 * Lists a user's active sign-ins, newest first.
 * @param after `startedAt` and id of the last one on the previous page, or null for the first page
 */
export async function listSignIns(
  db: Queryable,
  userId: string,
  after: readonly [string, string] | null,
  limit: number,
): Promise<readonly ListedSignIn[]> {
  const { rows } = await db.query(
    `select id, started_at, renewed_at, lapses_at, expires_at from sign_ins
      where user_id = $1 and ended_at is null and lapses_at > now()
        and ($2::timestamptz is null or (${STARTED}, id) < ($2, $3::uuid))
      order by ${STARTED} desc, id desc limit $4`,
    [userId, after?.[0] ?? null, after?.[1] ?? null, limit],
  );
  return Rows.parse(rows);
}
