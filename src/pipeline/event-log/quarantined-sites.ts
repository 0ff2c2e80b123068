import * as z from 'zod';
import type { Queryable } from '../../platform/database/pool.js';

/** A site whose relay stopped until an operator releases it. */
export interface QuarantinedSite {
  readonly siteId: string;
  readonly reason: string;
  readonly quarantinedAt: Date;
}

const quarantinedRows = z.array(
  z
    .object({ site_id: z.string(), reason: z.string(), quarantined_at: z.date() })
    .transform(
      (row): QuarantinedSite => ({ siteId: row.site_id, reason: row.reason, quarantinedAt: row.quarantined_at }),
    ),
);

export async function listQuarantinedSites(db: Queryable): Promise<QuarantinedSite[]> {
  const { rows } = await db.query(
    'select site_id, reason, quarantined_at from quarantined_sites order by quarantined_at, site_id',
  );
  return quarantinedRows.parse(rows);
}

/**
 * Quarantines a site. An earlier quarantine and its reason remain.
 * @param reason shown to operators; must not contain personal data
 * @returns whether it was not quarantined before
 */
export async function quarantineSite(db: Queryable, siteId: string, reason: string): Promise<boolean> {
  const { rowCount } = await db.query(
    'insert into quarantined_sites (site_id, reason) values ($1, $2) on conflict (site_id) do nothing',
    [siteId, reason],
  );
  return rowCount === 1;
}

/**
 * Releases a site from quarantine.
 * @returns whether it was quarantined
 */
export async function releaseSite(db: Queryable, siteId: string): Promise<boolean> {
  const { rowCount } = await db.query('delete from quarantined_sites where site_id = $1', [siteId]);
  return rowCount === 1;
}
