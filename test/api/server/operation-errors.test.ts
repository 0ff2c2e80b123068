import { expect, it } from 'vitest';
import { ApiError, type ErrorCode } from '../../../schemas/api/error-codes.js';
import { retryAfterOf } from '../../../src/api/server/error-response.js';
import { COMMON_ERRORS, errorsOf } from '../../../src/api/server/operation.js';
import { ALL_OPERATIONS } from '../openapi/all-operations.js';

const errorsOfId = (id: string): readonly ErrorCode[] => {
  const operation = ALL_OPERATIONS.find((one) => one.id === id);
  if (operation === undefined) throw new Error(`there is no operation ${id}`);
  return errorsOf(operation);
};

it.each(ALL_OPERATIONS)('$id lists each error once, and the common ones', (operation) => {
  const codes = errorsOf(operation);
  expect(new Set(codes).size).toBe(codes.length);
  expect(codes).toEqual(expect.arrayContaining([...COMMON_ERRORS]));
});

it('an operation without credentials, parameters and body has only its own errors and the common ones', () => {
  expect(errorsOfId('listLedgerKeys')).toEqual(COMMON_ERRORS);
});

it.each([
  ['EXPORT_LIMIT_EXCEEDED', undefined, '60'],
  ['SERVICE_UNAVAILABLE', undefined, '60'],
  ['TENANT_LIMIT_EXCEEDED', 3_600, '3600'],
  ['RECEIPT_NOT_READY', 0.2, '1'],
  ['ROUTE_NOT_FOUND', undefined, undefined],
] as const)('%s after %s s has Retry-After: %s', (code, retryAfterSeconds, expected) => {
  const details = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  expect(retryAfterOf(new ApiError(code, undefined, details))).toBe(expected);
});

it('an API key, a signature, a bearer token, a site in the path and a body bring their errors', () => {
  const ping = errorsOfId('ping');
  expect(ping).toContain('INVALID_API_KEY');
  expect(ping).toContain('RATE_LIMIT_EXCEEDED');
  expect(ping).not.toContain('INVALID_SIGNATURE');
  expect(ping).not.toContain('INSUFFICIENT_SCOPE');
  const browser = errorsOfId('recordConsent');
  for (const code of ['INVALID_SIGNATURE', 'NONCE_REPLAYED', 'INSUFFICIENT_SCOPE', 'PAYLOAD_TOO_LARGE'] as const) {
    expect(browser).toContain(code);
  }
  expect(browser).not.toContain('TENANT_MISMATCH');
  const backend = errorsOfId('readErasureS2s');
  expect(backend).toEqual(expect.arrayContaining(['TENANT_MISMATCH', 'INSUFFICIENT_ROLE', 'RESOURCE_NOT_FOUND']));
  expect(backend).not.toContain('VALIDATION_ERROR');
  expect(errorsOfId('readSite')).toEqual(expect.arrayContaining(['SITE_NOT_FOUND', 'INSUFFICIENT_ROLE']));
  expect(errorsOfId('login')).toContain('TOO_MANY_SIGN_IN_ATTEMPTS');
  expect(errorsOfId('login')).not.toContain('INVALID_BEARER_TOKEN');
});
