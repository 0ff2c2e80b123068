import type * as z from 'zod';
import type { SignIn } from '../../../../schemas/api/panel/sign-ins.js';
import { listSignIns } from '../../../accounts/sign-in/list-sign-ins.js';
import type { Queryable } from '../../../platform/database/pool.js';
import { keyOfCursor, type Page, type PageRequest, pageOfRows, TimeAndId } from '../page.js';

/**
 * A page of a user's sign-ins that last, newest first.
 * @throws ApiError VALIDATION_ERROR
 */
export async function signInList(
  db: Queryable,
  userId: string,
  page: PageRequest,
): Promise<Page<Omit<z.infer<typeof SignIn>, 'is_current'>>> {
  const rows = await listSignIns(db, userId, keyOfCursor(TimeAndId, page), page.limit + 1);
  return pageOfRows(
    page,
    rows,
    ({ startedAt, id }) => [startedAt.toISOString(), id],
    (row) => ({
      id: row.id,
      started_at: row.startedAt.toISOString(),
      renewed_at: row.renewedAt.toISOString(),
      lapses_at: row.lapsesAt.toISOString(),
      expires_at: row.expiresAt.toISOString(),
    }),
  );
}
