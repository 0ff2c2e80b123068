import * as z from 'zod';
import type { IdempotencyConflict } from '../../../../schemas/api/panel/api-keys.js';
import { consentToken } from '../../../../schemas/events/consent-recorded.js';
import type { Queryable } from '../../../platform/database/pool.js';
import { keyOfCursor, type Page, type PageRequest, pageOfRows } from '../page.js';

const ConflictRow = z.object({
  number: z.int(),
  event_id: z.string(),
  api_key_id: z.string(),
  first_at: z.date(),
  last_at: z.date(),
  times: z.int(),
});
const LastNumber = z.tuple([z.int()]);

/** A page of a site's conflicts of idempotency keys, newest first. @throws ApiError VALIDATION_ERROR */
export async function conflictList(
  db: Queryable,
  siteId: string,
  page: PageRequest,
): Promise<Page<IdempotencyConflict>> {
  const [before] = keyOfCursor(LastNumber, page) ?? [null];
  const { rows } = await db.query(
    `select number, event_id, api_key_id, first_at, last_at, times from idempotency_conflicts
      where site_id = $1 and ($2::bigint is null or number < $2) and last_at > now() - interval '30 days'
      order by number desc limit $3`,
    [siteId, before, page.limit + 1],
  );
  return pageOfRows(page, z.array(ConflictRow).parse(rows), ({ number }) => [number], shown);
}

function shown({ number: _, ...row }: z.infer<typeof ConflictRow>): IdempotencyConflict {
  return {
    ...row,
    consent_token: consentToken(row.event_id),
    first_at: row.first_at.toISOString(),
    last_at: row.last_at.toISOString(),
  };
}
