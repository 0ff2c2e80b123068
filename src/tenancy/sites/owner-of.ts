import * as z from 'zod';
import type { Queryable } from '../../platform/database/pool.js';
import { ChangeRefused } from '../../platform/errors.js';

const TenantRows = z.array(z.object({ tenant_id: z.string() }));

/** Finds the tenant of a site. @throws ChangeRefused `not_found` */
export async function tenantOfSite(db: Queryable, siteId: string): Promise<string> {
  const { rows } = await db.query('select tenant_id from sites where id = $1', [siteId]);
  const [row] = TenantRows.parse(rows);
  if (row === undefined) throw new ChangeRefused('not_found', `There is no site ${siteId}.`);
  return row.tenant_id;
}
