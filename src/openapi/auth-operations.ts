import { WITH_BODY } from './error-groups.js';
import type { Operation } from './operation.js';
import { SHOWN_TOKENS } from './shown-responses.js';
import { EXAMPLE_VALUES, SHOWN } from './values.js';

/** Sign-in. */
export const AUTH_OPERATIONS: readonly Operation[] = [
  {
    id: 'login',
    method: 'post',
    path: '/api/v1/auth/login',
    summary: 'Obtain a JWT',
    access: 'none',
    body: 'LoginRequest',
    status: 200,
    response: 'TokensResponse',
    errors: [...WITH_BODY, 'INVALID_CREDENTIALS', 'TOO_MANY_SIGN_IN_ATTEMPTS'],
    example: {
      body: { email: EXAMPLE_VALUES.email, password: EXAMPLE_VALUES.password },
      response: SHOWN_TOKENS('Signed in.'),
    },
  },
  {
    id: 'refresh',
    method: 'post',
    path: '/api/v1/auth/refresh',
    summary: 'Renew a JWT',
    access: 'none',
    body: 'RefreshRequest',
    status: 200,
    response: 'TokensResponse',
    errors: [...WITH_BODY, 'INVALID_BEARER_TOKEN'],
    example: { body: { refresh_token: EXAMPLE_VALUES.refreshToken }, response: SHOWN_TOKENS('Renewed.') },
  },
  {
    id: 'me',
    method: 'get',
    path: '/api/v1/auth/me',
    summary: 'Current panel user',
    access: 'bearer',
    status: 200,
    response: 'MeResponse',
    errors: [],
    example: {
      response: {
        data: { id: SHOWN.userId, tenant_id: SHOWN.tenantId, email: EXAMPLE_VALUES.panelEmail, role: 'owner' },
      },
    },
  },
];
