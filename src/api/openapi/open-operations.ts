import { PublicVerifyRequest } from '../../../schemas/api/verify.js';
import { WITH_BODY } from './error-groups.js';
import type { Operation } from './operation.js';
import { SHOWN_PUBLIC_CHECK } from './shown-responses.js';
import { EXAMPLE_VALUES } from './values.js';

const PUBLIC_VERIFY = {
  path: '/api/v1/public/consents/verify',
  access: 'none',
  status: 200,
  response: 'PublicVerifyAnswer',
} as const;

/** Public verify. */
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
];
