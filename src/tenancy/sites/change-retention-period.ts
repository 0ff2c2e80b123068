import { z } from 'zod';
import { RetentionDays } from '../../../schemas/api/panel/sites.js';
import type { Queryable } from '../../platform/database/pool.js';
import { ChangeRefused } from '../../platform/errors/change-refused.js';
import { changeSite } from './change-site.js';

const PeriodRow = z.tuple([z.object({ retention_days: z.int().nullable() })]);

/**
 * Sets the retention period of a site. Older records are then erased irreversibly.
 * @param days days; null disables erasure by age
 * @returns the periods before and after, in days
 * @throws ChangeRefused `not_found`, `invalid`
 */
export function changeRetentionPeriod(
  db: Queryable,
  siteId: string,
  days: number | null,
): Promise<{ readonly before: number | null; readonly after: number | null }> {
  const checked = RetentionDays.nullable().safeParse(days);
  if (!checked.success) throw new ChangeRefused('invalid', z.prettifyError(checked.error));
  return changeSite(db, siteId, async ({ db: client }) => {
    const { rows } = await client.query('select retention_days from sites where id = $1', [siteId]);
    const [{ retention_days: before }] = PeriodRow.parse(rows);
    await client.query('update sites set retention_days = $2 where id = $1', [siteId, checked.data]);
    return { before, after: checked.data };
  });
}
