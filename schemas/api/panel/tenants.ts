import * as z from 'zod';
import { Uuid } from '../../evidence/primitives.js';
import { InputUuid } from '../common.js';
import { displayName, Timestamp } from './common.js';
import { CreatedInvitation } from './invitations.js';

export const TenantName = displayName(300).min(1);

export const Tenant = z
  .object({
    id: Uuid.describe('UUID of the object.'),
    name: z.string().describe('Name of the tenant.'),
    created_at: Timestamp.describe('When it was created.'),
  })
  .meta({ id: 'Tenant' });
export type Tenant = z.infer<typeof Tenant>;

export const ChangeTenantRequest = z.strictObject({ name: TenantName.describe('Name of the tenant.') });

export const CreateTenantRequest = z.strictObject({
  name: TenantName.describe('Name of the tenant.'),
  owner_email: z.email().max(320).toLowerCase().describe('E-mail address of the first owner, who is invited.'),
});

/** A new tenant, with the invitation of its first owner. */
export const CreatedTenant = Tenant.extend({ owner_invitation: CreatedInvitation }).meta({ id: 'CreatedTenant' });

export const TenantParams = z.object({ tenant_id: InputUuid.describe('The tenant.') });
