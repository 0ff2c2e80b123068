import { ApiError } from '../../../schemas/api/error-codes.js';
import type { AccessTokens } from '../../catalogue/access-tokens.js';
import type { User, UserDirectory } from '../../catalogue/user-directory.js';

export interface ApiUsers {
  readonly tokens: AccessTokens;
  readonly users: UserDirectory;
}

/**
 * The user behind `Authorization: Bearer …` (RFC 6750 §2.1): the token says who, the database whether and in which role.
 * @throws ApiError MISSING_BEARER_TOKEN, INVALID_BEARER_TOKEN
 */
export async function authenticateUser(deps: ApiUsers, authorization: string | undefined): Promise<User> {
  const token = /^Bearer +([A-Za-z0-9._~+/=-]+) *$/i.exec(authorization ?? '')?.[1];
  if (authorization === undefined) throw new ApiError('MISSING_BEARER_TOKEN');
  const userId = token === undefined ? null : await deps.tokens.verify(token, 'access');
  const user = userId === null ? null : await deps.users.byId(userId);
  if (user === null) throw new ApiError('INVALID_BEARER_TOKEN');
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
): Promise<User> {
  const user = await authenticateUser(deps, authorization);
  if (user.tenantId !== tenantId) throw new ApiError('TENANT_MISMATCH');
  if (user.role !== 'api_user') throw new ApiError('INSUFFICIENT_ROLE');
  return user;
}
