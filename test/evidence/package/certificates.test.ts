import { expect, test } from 'vitest';
import { parseTimestamp } from '../../../schemas/rfc3161/cms/token.js';
import { isCertificateNeeded } from '../../../src/evidence/package/checkpoints-files.js';
import { buildLedger, fixtureAuthority } from '../../support/ledger-fixture.js';

const authority = fixtureAuthority();
const responses = [...buildLedger(authority).checkpoints.values()].map(({ response }) => response);
const [stranger = new Uint8Array()] = [...buildLedger(fixtureAuthority()).checkpoints.values()].map(
  ({ response }) => response,
);
const [signer = new Uint8Array()] = parseTimestamp(responses[0] ?? new Uint8Array()).signedData?.certificates ?? [];

test('a certificate that each token has is not needed', () => {
  expect(responses.length).toBeGreaterThan(1);
  expect(isCertificateNeeded(signer, responses)).toBe(false);
});

test('a certificate that one token lacks is needed', () => {
  expect(isCertificateNeeded(signer, [...responses, stranger])).toBe(true);
  expect(isCertificateNeeded(signer, [...responses, new Uint8Array([1])])).toBe(true);
});

test('a self-signed certificate is not needed', () => {
  expect(isCertificateNeeded(authority.root.der, [stranger])).toBe(false);
});

test('a certificate that cannot be read is kept', () => {
  expect(isCertificateNeeded(new Uint8Array([1, 2, 3]), responses)).toBe(true);
});
