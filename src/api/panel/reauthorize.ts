import { ApiError } from '../../../schemas/api/error-codes.js';
import { readSignedInUser, type SignedInUser, type UserDirectory } from '../../accounts/users/user-directory.js';
import { lockUsersOf } from '../../accounts/users/users.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { RowSeals } from '../../platform/keys/index.js';
import type { Operation } from '../server/operation.js';

/** @throws ApiError INSUFFICIENT_ROLE */
export function requireRole({ access }: Operation, { role }: SignedInUser): void {
  const { roles } = access;
  if (roles?.includes(role) === true) return;
  throw new ApiError('INSUFFICIENT_ROLE', `This route requires one of the roles: ${roles?.join(', ')}.`);
}

/**
 * Reads a user again after the body of the request has arrived, which can take a minute: the checks
 * before the body may be out of date.
 * @returns the user as known within the last second
 * @throws ApiError INVALID_BEARER_TOKEN, INSUFFICIENT_ROLE
 */
export async function reauthorize(
  users: UserDirectory,
  operation: Operation,
  { signInId }: SignedInUser,
): Promise<SignedInUser> {
  return permitted(operation, await users.bySignIn(signInId));
}

/**
 * Reads the user of a change again, within its transaction. A change that takes rights away comes
 * before it, or waits until it ends.
 * @returns the user, whose state and role stay as they are until the transaction ends
 * @throws ApiError INVALID_BEARER_TOKEN, INSUFFICIENT_ROLE
 */
export async function reauthorizeChange(
  db: Queryable,
  seals: RowSeals,
  operation: Operation,
  { signInId, tenantId }: SignedInUser,
): Promise<SignedInUser> {
  await lockUsersOf(db, tenantId);
  return permitted(operation, await readSignedInUser(db, seals, signInId));
}

function permitted(operation: Operation, user: SignedInUser | null): SignedInUser {
  if (user === null) throw new ApiError('INVALID_BEARER_TOKEN');
  requireRole(operation, user);
  return user;
}
