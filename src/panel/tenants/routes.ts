import { CatalogueError } from '../../catalogue/catalogue-error.js';
import { renameTenant } from '../../catalogue/create-tenant.js';
import type { User } from '../../catalogue/user-directory.js';
import type { PanelDeps } from '../deps.js';
import { changes, type PanelRoute, reads } from '../route.js';
import * as operations from './operations.js';
import { tenantById, tenantList } from './show-tenants.js';

/** A user belongs to one tenant; others are made by operators (`admin tenant create`). */
export function tenantRoutes({ apiPool }: PanelDeps): readonly PanelRoute[] {
  return [
    reads(operations.listTenants, ({ user, query }) => tenantList(apiPool, user.tenantId, query)),
    reads(operations.readTenant, async ({ user, params }) => {
      refuseForeign(user, params.tenant_id);
      return { data: await tenantById(apiPool, params.tenant_id) };
    }),
    changes(operations.changeTenant, async ({ user, params, body }, transaction) => {
      refuseForeign(user, params.tenant_id);
      const isOther = await renameTenant(transaction, params.tenant_id, body.name);
      return {
        response: { data: await tenantById(transaction, params.tenant_id) },
        subject: { kind: 'tenant', id: params.tenant_id },
        details: { changed: isOther ? ['name'] : [] },
      };
    }),
  ];
}

/** @throws CatalogueError `not_found`, as for a tenant that does not exist */
function refuseForeign(user: User, tenantId: string): void {
  if (tenantId !== user.tenantId) throw new CatalogueError('not_found', `There is no tenant ${tenantId}.`);
}
