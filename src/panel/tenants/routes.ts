import { z } from 'zod';
import type { Tenant } from '../../../schemas/api/panel/tenants.js';
import { CatalogueError } from '../../catalogue/catalogue-error.js';
import type { User } from '../../catalogue/user-directory.js';
import type { Database } from '../../database/pool.js';
import type { PanelDeps } from '../deps.js';
import { changes, type PanelRoute, reads } from '../route.js';
import { changeTenant, listTenants, readTenant } from './operations.js';

/** A user belongs to one tenant; others are made by operators (`admin tenant create`). */
export function tenantRoutes({ apiPool }: PanelDeps): readonly PanelRoute[] {
  return [
    reads(listTenants, async ({ user }) => ({
      data: [await ownTenant(apiPool, user, user.tenantId)],
      next_cursor: null,
    })),
    reads(readTenant, async ({ user, params }) => ({ data: await ownTenant(apiPool, user, params.tenant_id) })),
    changes(changeTenant, async ({ user, params, body }, transaction) => {
      const before = await ownTenant(transaction, user, params.tenant_id);
      await transaction.query('update tenants set name = $2 where id = $1', [before.id, body.name]);
      return {
        response: { data: { ...before, name: body.name } },
        subject: { kind: 'tenant', id: before.id },
        details: { changed: before.name === body.name ? [] : ['name'] },
      };
    }),
  ];
}

const TenantRows = z.array(z.object({ id: z.string(), name: z.string(), created_at: z.date() }));

async function ownTenant(database: Database, user: User, tenantId: string): Promise<z.infer<typeof Tenant>> {
  const { rows } = await database.query('select id, name, created_at from tenants where id = $1 and id = $2', [
    tenantId,
    user.tenantId,
  ]);
  const [row] = TenantRows.parse(rows);
  if (row === undefined) throw new CatalogueError('not_found', `There is no tenant ${tenantId}.`);
  return { ...row, created_at: row.created_at.toISOString() };
}
