import type { JsonObject } from '../../../schemas/json/json-value.js';
import { EXAMPLE_VALUES, SHOWN } from '../server/example-values.js';

export const SHOWN_TOKENS = (
  message: string,
  user: { readonly email: string; readonly role: string } = { email: EXAMPLE_VALUES.email, role: 'api_user' },
): JsonObject => ({
  message,
  data: {
    token_type: 'Bearer',
    access_token: SHOWN.accessToken,
    expires_in: 900,
    refresh_token: EXAMPLE_VALUES.refreshToken,
    user: { id: SHOWN.userId, tenant_id: SHOWN.tenantId, ...user },
  },
});

export const SHOWN_ENDED = (message: string, ended: number): JsonObject => ({
  message,
  data: { ended_sign_ins: ended },
});
