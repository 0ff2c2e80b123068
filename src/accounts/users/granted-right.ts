import { z } from 'zod';
import { UserRole } from '../../../schemas/api/auth.js';
import { type RowSeals, UserSealColumns, userSealOf } from '../../platform/keys/index.js';
import { mayGrant } from './may-grant.js';
import type { Role } from './user-directory.js';

/** The user who granted a right, in the row of the right: with the columns of `userSealColumns`. */
export const GrantorColumns = UserSealColumns.extend({
  /** Null: an operator. */
  granted_by: z.string().nullable(),
  /** Current role of the user; null if the user is disabled. */
  grantor_role: UserRole.nullable(),
});
export type GrantorColumns = z.infer<typeof GrantorColumns>;

/**
 * Whether a right still comes from someone who may grant it: an operator, or a user whose current role
 * may, and whose row is unaltered.
 */
export async function isGrantInForce(seals: RowSeals, grantor: GrantorColumns, role: Role): Promise<boolean> {
  const { granted_by: grantedBy, grantor_role: grantorRole } = grantor;
  if (grantedBy === null) return true;
  if (grantorRole === null || !mayGrant(grantorRole, role)) return false;
  return seals.isSealed('users', grantedBy, userSealOf(grantor));
}
