import * as z from 'zod';
import { UserRole } from '../../../schemas/api/auth.js';
import type { RowSeals, SealedRow } from '../../platform/keys/index.js';
import { mayGrant } from './may-grant.js';
import type { Role } from './user-directory.js';

const Grantor = z.object({ role: UserRole });

/**
 * Returns whether a right still comes from someone who may grant it: an operator, or a user whose current role
 * may, and whose row is unaltered.
 * @param grantedBy id of the user; null: an operator
 * @param grantor the row of the user, read with the row of the right by one statement: between two statements, a
 *   person who writes to the database could show each of them another row. Null if the user is disabled.
 */
export async function isGrantInForce(
  seals: RowSeals,
  grantedBy: string | null,
  grantor: SealedRow<'users'> | null,
  role: Role,
): Promise<boolean> {
  if (grantedBy === null) return true;
  const user = grantor && (await seals.open(grantor, Grantor));
  return user !== null && mayGrant(user.role, role);
}
