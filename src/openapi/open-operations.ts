import { PublicVerifyRequest } from '../../schemas/api/verify.js';
import { WITH_BODY } from './error-groups.js';
import type { Operation } from './operation.js';
import { SHOWN_PUBLIC_CHECK, SHOWN_TOKENS } from './shown-responses.js';
import { EXAMPLE_VALUES, SHOWN } from './values.js';

const PUBLIC_VERIFY = {
  path: '/api/v1/public/consents/verify',
  access: 'none',
  status: 200,
  response: 'PublicVerifyAnswer',
} as const;

/** Public verify and sign-in. */
export const OPEN_OPERATIONS: readonly Operation[] = [
  {
    ...PUBLIC_VERIFY,
    id: 'verifyPublicly',
    method: 'get',
    summary: 'Public integrity check',
    query: PublicVerifyRequest,
    errors: ['CONSENT_NOT_FOUND', 'IDENTIFIER_REQUIRED', 'VALIDATION_ERROR', 'RATE_LIMIT_EXCEEDED'],
    example: { query: { token: EXAMPLE_VALUES.consentToken }, response: SHOWN_PUBLIC_CHECK },
  },
  {
    ...PUBLIC_VERIFY,
    id: 'verifyPubliclyByPost',
    method: 'post',
    summary: 'Public integrity check',
    body: 'PublicVerifyRequest',
    errors: [...WITH_BODY, 'CONSENT_NOT_FOUND', 'IDENTIFIER_REQUIRED', 'RATE_LIMIT_EXCEEDED'],
    example: { body: { token: EXAMPLE_VALUES.consentToken }, response: SHOWN_PUBLIC_CHECK },
  },
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
