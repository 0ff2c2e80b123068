import * as z from 'zod';
import type { Tenant } from '../../../../schemas/api/panel/tenants.js';
import type { Queryable } from '../../../platform/database/pool.js';
import { ChangeRefused } from '../../../platform/errors.js';
import { keyOfCursor, type Page, type PageRequest, pageOfRows } from '../page.js';

const TenantRows = z.array(z.object({ id: z.string(), name: z.string(), created_at: z.date() }));
const TenantCursor = z.tuple([z.uuid()]);

/**
 * A page of tenants, by id.
 * @param onlyTenantId null: of all, for operators
 * @throws ApiError VALIDATION_ERROR
 */
export async function tenantList(db: Queryable, onlyTenantId: string | null, page: PageRequest): Promise<Page<Tenant>> {
  const [after] = keyOfCursor(TenantCursor, page) ?? [null];
  const { rows } = await db.query(
    `select id, name, created_at from tenants
      where ($1::uuid is null or id = $1) and ($2::uuid is null or id > $2) order by id limit $3`,
    [onlyTenantId, after, page.limit + 1],
  );
  return pageOfRows(page, TenantRows.parse(rows), ({ id }) => [id], shown);
}

/** One tenant. @throws ChangeRefused `not_found` */
export async function tenantById(db: Queryable, tenantId: string): Promise<Tenant> {
  const { rows } = await db.query('select id, name, created_at from tenants where id = $1', [tenantId]);
  const [row] = TenantRows.parse(rows);
  if (row === undefined) throw new ChangeRefused('not_found', `There is no tenant ${tenantId}.`);
  return shown(row);
}

function shown(row: z.infer<typeof TenantRows>[number]): Tenant {
  return { ...row, created_at: row.created_at.toISOString() };
}
