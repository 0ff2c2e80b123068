import { ApiError } from '../../../schemas/api/error-codes.js';
import type { AccessTokens } from '../../accounts/sign-in/access-tokens.js';
import type { SignedInUser, UserDirectory } from '../../accounts/users/user-directory.js';

export interface ApiUsers {
  readonly tokens: AccessTokens;
  readonly users: UserDirectory;
}

/**
 * The user behind `Authorization: Bearer …` (RFC 6750 §2.1): the token says who, the database whether the sign-in lasts, and in which role.
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
 * The same, of a user who may use the panel at all.
 * @throws ApiError also INSUFFICIENT_ROLE
 */
export async function authenticatePanelUser(deps: ApiUsers, authorization: string | undefined): Promise<SignedInUser> {
  const user = await authenticateUser(deps, authorization);
  if (user.role === 'api_user') throw new ApiError('INSUFFICIENT_ROLE', 'This user can use the S2S API only.');
  return user;
}

/**
 * The `api_user` of the tenant that owns the site.
 * @throws ApiError also TENANT_MISMATCH (before the role, so that nothing is said of another tenant's user), INSUFFICIENT_ROLE
 */
export async function authenticateApiUser(
  deps: ApiUsers,
  authorization: string | undefined,
  tenantId: string,
): Promise<SignedInUser> {
  return requireApiUser(await authenticateUser(deps, authorization), tenantId);
}

/**
 * Judges again, as known within the last second, whom `authenticateApiUser` let in.
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
