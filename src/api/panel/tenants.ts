import * as z from 'zod';
import { ApiError } from '../../../schemas/api/error-codes.js';
import { dataOf, PageQuery, pageOf } from '../../../schemas/api/panel/common.js';
import {
  ChangeTenantRequest,
  CreatedTenant,
  CreateTenantRequest,
  Tenant,
  TenantParams,
} from '../../../schemas/api/panel/tenants.js';
import { causedBy } from '../../accounts/mail/mail-queue.js';
import { createInvitation } from '../../accounts/sign-in/invitations.js';
import type { Queryable } from '../../platform/database/pool.js';
import { ChangeRefused } from '../../platform/errors.js';
import { createTenant, renameTenant } from '../../tenancy/tenants/tenants.js';
import type { PanelCaller } from '../server/caller.js';
import { EDITORS, READERS, tokenMail } from './caller.js';
import { route } from './deps.js';
import { deliverInvitation, shownInvitation } from './invitations.js';
import { keyOfCursor, type Page, type PageRequest, pageOfRows } from './page.js';

const shared = { auth: 'panel', tag: 'Tenants' } as const;
const one = { ...shared, params: TenantParams, errors: ['RESOURCE_NOT_FOUND'] } as const;

/** A user belongs to one tenant and sees no other, not even one that this tenant created. */
export const TENANT_OPERATIONS = [
  route({
    ...shared,
    id: 'listTenants',
    path: '/api/v1/tenants',
    summary: 'List the tenant of the user',
    roles: READERS,
    query: PageQuery,
    response: pageOf(Tenant),
    handle: ({ user, query }, { apiPool }) => tenantList(apiPool, user.tenantId, query),
  }),
  route({
    ...shared,
    id: 'createTenant',
    method: 'post',
    path: '/api/v1/tenants',
    summary: 'Create another tenant, for a customer or a company of the same group',
    description:
      'The new tenant shares nothing with the tenant of the user. It has no plan: consents return 429 NO_CONSENT_SUBSCRIPTION until the operator of the service assigns one. Without mail, only this response contains the token of the first owner’s invitation. A tenant and its direct and indirect descendants can create ten tenants a day in total.',
    roles: ['owner'],
    body: CreateTenantRequest,
    example: { body: { name: 'Example Holding', owner_email: 'owner@holding.example' } },
    status: 201,
    response: dataOf(CreatedTenant),
    errors: ['TENANT_LIMIT_EXCEEDED'],
    action: 'tenant.create',
    change: async ({ user, body, mailCause }, db, { queueMail }) => {
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
    },
  }),
  route({
    ...one,
    id: 'readTenant',
    path: '/api/v1/tenants/{tenant_id}',
    summary: 'Get a tenant',
    roles: READERS,
    response: dataOf(Tenant),
    handle: async ({ user, params }, { apiPool }) => {
      refuseForeign(user, params.tenant_id);
      return { data: await tenantById(apiPool, params.tenant_id) };
    },
  }),
  route({
    ...one,
    id: 'changeTenant',
    method: 'patch',
    path: '/api/v1/tenants/{tenant_id}',
    summary: 'Change the name of a tenant',
    description: 'The name is only displayed. Evidence names the controller of the configuration of each site.',
    roles: EDITORS,
    body: ChangeTenantRequest,
    example: { body: { name: 'Example Group' } },
    response: dataOf(Tenant),
    action: 'tenant.change',
    change: async ({ user, params, body }, db) => {
      refuseForeign(user, params.tenant_id);
      const before = await renameTenant(db, params.tenant_id, body.name);
      const data = await tenantById(db, params.tenant_id);
      const isOther = data.name !== before;
      return {
        response: { data },
        subject: { kind: 'tenant', id: params.tenant_id },
        details: { changed: isOther ? ['name'] : [], ...(isOther && { name: { before, after: data.name } }) },
      };
    },
  }),
];

const MADE_A_DAY = 10;
/** A tenant falls out of the 24-hour window at an unknown time within a day. */
const RETRY_SECONDS = 3_600;
const CountRows = z.tuple([z.object({ made: z.int() })]);

const RootRows = z.tuple([z.object({ id: z.string() })]);

/**
 * Counts all descendants of the root tenant, which an operator created. Otherwise each new tenant could create ten
 * more. It locks the root tenant, so that simultaneous requests cannot get around the limit.
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
function refuseForeign(user: PanelCaller, tenantId: string): void {
  if (tenantId !== user.tenantId) throw new ChangeRefused('not_found', `There is no tenant ${tenantId}.`);
}

const TenantRows = z.array(z.object({ id: z.string(), name: z.string(), created_at: z.date() }));
const TenantCursor = z.tuple([z.uuid()]);

/**
 * A page of tenants, by id.
 * @param onlyTenantId the only tenant that is listed; null, for operators, lists all
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
