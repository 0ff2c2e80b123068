import { ApiError } from '../../../schemas/api/error-codes.js';
import type { AccessTokens } from '../../accounts/sign-in/access-tokens.js';
import type { SignedInUser, UserDirectory } from '../../accounts/users/user-directory.js';

export interface ApiUsers {
  readonly tokens: AccessTokens;
  readonly users: UserDirectory;
}

/**
 * Authenticates the user of `Authorization: Bearer …` (RFC 6750 §2.1). The token identifies the
 * user. The directory decides whether the sign-in is active, and with which role.
 * @throws ApiError MISSING_BEARER_TOKEN, INVALID_BEARER_TOKEN
 */
export async function authenticateUser(deps: ApiUsers, authorization: string | undefined): Promise<SignedInUser> {
  const token = /^Bearer +([A-Za-z0-9._~+/=-]+) *$/i.exec(authorization ?? '')?.[1];
  if (authorization === undefined) throw new ApiError('MISSING_BEARER_TOKEN');
  const claims = token === undefined ? null : await deps.tokens.verify(token);
  const user = claims === null ? null : await deps.users.bySignIn(claims.signInId);
  if (user === null || user.id !== claims?.userId) throw new ApiError('INVALID_BEARER_TOKEN');
  return user;
}

/**
 * Authenticates an `api_user` of the tenant that owns the site. The tenant is checked before the
 * role, so that the role of another tenant's user is not revealed.
 * @throws ApiError MISSING_BEARER_TOKEN, INVALID_BEARER_TOKEN, TENANT_MISMATCH, INSUFFICIENT_ROLE
 */
export async function authenticateApiUser(
  deps: ApiUsers,
  authorization: string | undefined,
  tenantId: string,
): Promise<SignedInUser> {
  return requireApiUser(await authenticateUser(deps, authorization), tenantId);
}

/**
 * Checks again, with data at most one second old, the rights of a user that `authenticateApiUser` accepted.
 * @throws ApiError INVALID_BEARER_TOKEN, TENANT_MISMATCH, INSUFFICIENT_ROLE
 */
export async function reauthorizeApiUser(deps: ApiUsers, { signInId }: SignedInUser, tenantId: string): Promise<void> {
  const user = await deps.users.bySignIn(signInId);
  if (user === null) throw new ApiError('INVALID_BEARER_TOKEN');
  requireApiUser(user, tenantId);
}

function requireApiUser(user: SignedInUser, tenantId: string): SignedInUser {
  if (user.tenantId !== tenantId) throw new ApiError('TENANT_MISMATCH');
  if (user.role !== 'api_user') throw new ApiError('INSUFFICIENT_ROLE');
  return user;
}
