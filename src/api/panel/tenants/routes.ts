import * as z from 'zod';
import { ApiError } from '../../../../schemas/api/error-codes.js';
import { causedBy } from '../../../accounts/mail/mail-queue.js';
import { createInvitation } from '../../../accounts/sign-in/invitations.js';
import type { Queryable } from '../../../platform/database/pool.js';
import { ChangeRefused } from '../../../platform/errors.js';
import { createTenant, renameTenant } from '../../../tenancy/tenants/tenants.js';
import { type Caller, tokenMail } from '../caller.js';
import type { PanelRoutesOptions } from '../deps.js';
import { deliverInvitation } from '../invitations/deliver-invitation.js';
import { shownInvitation } from '../invitations/show-invitation.js';
import { changes, type PanelRoute, reads } from '../route.js';
import * as operations from './operations.js';
import { tenantById, tenantList } from './show-tenants.js';

/** A user belongs to one tenant, and sees no other: not even one that it has made. */
export function tenantRoutes({ apiPool, queueMail }: PanelRoutesOptions): readonly PanelRoute[] {
  return [
    reads(operations.listTenants, ({ user, query }) => tenantList(apiPool, user.tenantId, query)),
    changes(operations.createTenant, async ({ user, body, mailCause }, db) => {
      await refuseExcess(db, user.tenantId);
      const { id } = await createTenant(db, body.name, null, user.tenantId);
      const { invitation, token } = await createInvitation(db, {
        tenantId: id,
        email: body.owner_email,
        role: 'owner',
        invitedBy: user.id,
      });
      const tenant = await tenantById(db, id);
      const shownToken = await deliverInvitation(db, causedBy(tokenMail(user, queueMail), mailCause), {
        invitation,
        token,
        invitedBy: user.email,
      });
      return {
        response: { data: { ...tenant, owner_invitation: { ...shownInvitation(invitation), token: shownToken } } },
        subject: { kind: 'tenant', id },
      };
    }),
    reads(operations.readTenant, async ({ user, params }) => {
      refuseForeign(user, params.tenant_id);
      return { data: await tenantById(apiPool, params.tenant_id) };
    }),
    changes(operations.changeTenant, async ({ user, params, body }, db) => {
      refuseForeign(user, params.tenant_id);
      const isOther = await renameTenant(db, params.tenant_id, body.name);
      return {
        response: { data: await tenantById(db, params.tenant_id) },
        subject: { kind: 'tenant', id: params.tenant_id },
        details: { changed: isOther ? ['name'] : [] },
      };
    }),
  ];
}

const MADE_A_DAY = 10;
/** One of the tenants of the last day becomes older than that within a day. */
const RETRY_SECONDS = 3_600;
const CountRows = z.tuple([z.object({ made: z.int() })]);

const RootRows = z.tuple([z.object({ id: z.string() })]);

/**
 * Counts all that descend from the first tenant, one that an operator made: else each new one could
 * make ten more. Under a lock on that, so that many at once are no way around it.
 * @throws ApiError TENANT_LIMIT_EXCEEDED
 */
async function refuseExcess(db: Queryable, tenantId: string): Promise<void> {
  const found = await db.query(
    `with recursive makers as (
       select id, made_by_tenant from tenants where id = $1
       union select t.id, t.made_by_tenant from tenants t join makers m on t.id = m.made_by_tenant)
     select id from makers where made_by_tenant is null`,
    [tenantId],
  );
  const [root] = RootRows.parse(found.rows);
  await db.query('select from tenants where id = $1 for no key update', [root.id]);
  const { rows } = await db.query(
    `with recursive family as (
       select id, created_at from tenants where made_by_tenant = $1
       union select t.id, t.created_at from tenants t join family f on t.made_by_tenant = f.id)
     select count(*) as made from family where created_at > now() - interval '1 day'`,
    [root.id],
  );
  if (CountRows.parse(rows)[0].made >= MADE_A_DAY)
    throw new ApiError('TENANT_LIMIT_EXCEEDED', undefined, { retryAfterSeconds: RETRY_SECONDS });
}

/** @throws ChangeRefused `not_found`, as for a tenant that does not exist */
function refuseForeign(user: Caller, tenantId: string): void {
  if (tenantId !== user.tenantId) throw new ChangeRefused('not_found', `There is no tenant ${tenantId}.`);
}
