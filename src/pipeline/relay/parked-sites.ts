import { z } from 'zod';
import type { Queryable } from '../../platform/database/pool.js';

/** A site of which nothing is relayed until an operator has looked. */
export interface ParkedSite {
  readonly siteId: string;
  readonly reason: string;
  readonly parkedAt: Date;
}

const parkedRows = z.array(
  z
    .object({ site_id: z.string(), reason: z.string(), parked_at: z.date() })
    .transform((row): ParkedSite => ({ siteId: row.site_id, reason: row.reason, parkedAt: row.parked_at })),
);

export async function listParkedSites(db: Queryable): Promise<ParkedSite[]> {
  const { rows } = await db.query('select site_id, reason, parked_at from parked_sites order by parked_at, site_id');
  return parkedRows.parse(rows);
}

/** @param reason without personal data: operators see it */
export async function parkSite(db: Queryable, siteId: string, reason: string): Promise<void> {
  await db.query('insert into parked_sites (site_id, reason) values ($1, $2) on conflict (site_id) do nothing', [
    siteId,
    reason,
  ]);
}

/** Lets the site be relayed again. @returns whether it was parked */
export async function unparkSite(db: Queryable, siteId: string): Promise<boolean> {
  const { rowCount } = await db.query('delete from parked_sites where site_id = $1', [siteId]);
  return rowCount === 1;
}
