import { z } from 'zod';
import { Uuid } from '../../evidence/primitives.js';
import { Timestamp } from './common.js';

export const TenantName = z.string().trim().min(1).max(300);

export const Tenant = z.object({
  id: Uuid,
  name: z.string(),
  created_at: Timestamp,
});
export type Tenant = z.infer<typeof Tenant>;

export const ChangeTenantRequest = z.strictObject({ name: TenantName });

export const TenantParams = z.object({ tenant_id: Uuid });
