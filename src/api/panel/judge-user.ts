import type pg from 'pg';
import { ApiError } from '../../../schemas/api/error-codes.js';
import { lockUsersOf } from '../../accounts/users/lock-users.js';
import { readSignedInUser, type SignedInUser, type UserDirectory } from '../../accounts/users/user-directory.js';
import type { PanelOperation } from './operation.js';

/** @throws ApiError INSUFFICIENT_ROLE */
export function requireRole({ roles }: PanelOperation, { role }: SignedInUser): void {
  if (!roles.includes(role)) {
    throw new ApiError('INSUFFICIENT_ROLE', `This asks for one of the roles ${roles.join(', ')}.`);
  }
}

/**
 * Judges a user again whose request took its time to arrive: headers are judged before the body is read, and a body may be a minute under way.
 * @returns the user as known within the last second
 * @throws ApiError INVALID_BEARER_TOKEN, INSUFFICIENT_ROLE
 */
export async function judgeAgain(
  users: UserDirectory,
  operation: PanelOperation,
  { signInId }: SignedInUser,
): Promise<SignedInUser> {
  return permitted(operation, await users.bySignIn(signInId));
}

/**
 * The same for a change, within its transaction: what takes rights away comes before it, or waits for its end.
 * @returns the user as it stands until the transaction ends
 * @throws ApiError INVALID_BEARER_TOKEN, INSUFFICIENT_ROLE
 */
export async function judgeForChange(
  transaction: pg.PoolClient,
  operation: PanelOperation,
  { signInId, tenantId }: SignedInUser,
): Promise<SignedInUser> {
  await lockUsersOf(transaction, tenantId);
  return permitted(operation, await readSignedInUser(transaction, signInId));
}

function permitted(operation: PanelOperation, user: SignedInUser | null): SignedInUser {
  if (user === null) throw new ApiError('INVALID_BEARER_TOKEN');
  requireRole(operation, user);
  return user;
}
