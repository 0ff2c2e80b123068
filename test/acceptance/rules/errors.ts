import { describe, expect, test } from 'vitest';
import { errorOf } from '../support/answers.js';
import type { World } from '../support/world.js';

/**
 * Codes of the specification's error table by status. Those that need a fault inside the service cannot be provoked from outside, and are left
 * out: QUEUE_OVERLOADED, ADMISSION_UNAVAILABLE, API_KEY_LOOKUP_UNAVAILABLE.
 */
const CODES: Readonly<Record<number, readonly string[]>> = {
  401: [
    'MISSING_API_KEY',
    'INVALID_API_KEY',
    'MISSING_SIGNATURE_HEADERS',
    'TIMESTAMP_EXPIRED',
    'INVALID_SIGNATURE',
    'INVALID_NONCE',
    'NONCE_REPLAYED',
    'MISSING_BEARER_TOKEN',
    'INVALID_BEARER_TOKEN',
  ],
  403: ['SITE_NOT_VERIFIED', 'ORIGIN_NOT_ALLOWED', 'IP_NOT_ALLOWED', 'INSUFFICIENT_ROLE', 'TENANT_MISMATCH'],
  404: ['DOCUMENT_NOT_FOUND', 'VERSION_NOT_FOUND', 'CONSENT_NOT_FOUND'],
  409: ['CONFIG_OUTDATED'],
  422: [
    'VALIDATION_ERROR',
    'APPROVAL_TOKEN_REQUIRED',
    'APPROVAL_TOKEN_INVALID',
    'APPROVAL_TOKEN_CONFLICT',
    'INVALID_CATEGORIES',
    'METADATA_TOO_MANY_KEYS',
    'METADATA_TOO_LARGE',
    'EXTRA_FIELDS_TOO_MANY_KEYS',
    'EXTRA_FIELD_NAME_TOO_LONG',
    'EXTRA_FIELDS_TOO_LARGE',
    'STROKES_DATA_TOO_LARGE',
    'INVALID_SIGNATURE_IMAGE',
    'SIGNATURE_IMAGE_TOO_LARGE',
    'INVALID_CUSTOM_DOCUMENT',
    'UNSUPPORTED_CUSTOM_DOCUMENT_TYPE',
    'CUSTOM_DOCUMENT_TOO_LARGE',
  ],
  429: ['RATE_LIMIT_EXCEEDED', 'CONSENT_LIMIT_EXCEEDED', 'NO_CONSENT_SUBSCRIPTION', 'TOO_MANY_INVALID_API_KEYS'],
};

/** Specification, Errors: rules about every answer of this run, so they come last. */
export function errorTableRules(world: World): void {
  const errors = () => world.http.answers.filter(({ status }) => status >= 400);

  describe('Errors, over every answer of this run', () => {
    for (const [status, codes] of Object.entries(CODES)) {
      for (const code of codes) {
        test(`${code} was answered, always with status ${status}`, () => {
          const statuses = errors()
            .filter((answer) => errorOf(answer).code === code)
            .map((answer) => answer.status);
          expect([...new Set(statuses)]).toEqual([Number(status)]);
        });
      }
    }
    test('Every error is JSON with the same code in code, error_code and error.code', () => {
      for (const answer of errors()) errorOf(answer);
    });
    test('Every VALIDATION_ERROR has field errors in errors', () => {
      for (const answer of errors()) {
        const { code, errors: fields } = errorOf(answer);
        if (code === 'VALIDATION_ERROR') expect(fields, `${answer.method} ${answer.path}`).toBeTruthy();
      }
    });
    test('Every 429 and 503 has Retry-After', () => {
      for (const { status, headers, method, path } of errors()) {
        if (status === 429 || status === 503) expect(headers['retry-after'], `${method} ${path}`).toMatch(/^[1-9]\d*$/);
      }
    });
    test('No request was ever answered with a status of 500 or above', () => {
      expect(errors().filter(({ status }) => status >= 500)).toEqual([]);
    });
    test('No response contains a stack trace, SQL or a file path', () => {
      for (const { text, method, path } of errors()) {
        expect(text, `${method} ${path}`).not.toMatch(/\bat \S+ \(|node_modules|\bselect\b.+\bfrom\b|\/src\/|\.ts:\d/i);
      }
    });
  });
}
