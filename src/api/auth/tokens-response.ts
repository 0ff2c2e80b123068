import type { z } from 'zod';
import type { TokensResponse, UserSummary } from '../../../schemas/api/auth.js';
import { ACCESS_TOKEN_SECONDS } from '../../accounts/credentials/lifetimes.js';
import type { AccessTokens } from '../../accounts/sign-in/access-tokens.js';
import type { SignedInUser, User } from '../../accounts/users/user-directory.js';

/** The response to a sign-in, a renewal and an accepted invitation. */
export async function tokensResponse(
  tokens: AccessTokens,
  user: SignedInUser,
  refreshToken: string,
  message: string,
): Promise<TokensResponse> {
  const nowSeconds = Math.floor(Date.now() / 1000);
  return {
    message,
    data: {
      token_type: 'Bearer',
      access_token: await tokens.issue({ userId: user.id, signInId: user.signInId }, nowSeconds),
      expires_in: ACCESS_TOKEN_SECONDS,
      refresh_token: refreshToken,
      user: userSummary(user),
    },
  };
}

export function userSummary(user: User): z.infer<typeof UserSummary> {
  return { id: user.id, tenant_id: user.tenantId, email: user.email, role: user.role };
}
