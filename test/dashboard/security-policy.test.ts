import { expect, test } from 'vitest';
import { securityPolicy } from '../../dashboard/src/pages/keys/security-policy.js';

test('a policy permits the service by its origin, or its script by a nonce', () => {
  expect(securityPolicy('https://consent.example', 'origin')).toBe(
    "default-src 'self'; script-src 'self' https://consent.example; connect-src 'self' https://consent.example; object-src 'none'; base-uri 'none'",
  );
  expect(securityPolicy('https://consent.example', 'nonce')).toBe(
    "default-src 'self'; script-src 'nonce-RANDOM'; connect-src 'self' https://consent.example; object-src 'none'; base-uri 'none'",
  );
});
