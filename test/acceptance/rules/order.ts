import { randomUUID } from 'node:crypto';
import { beforeAll, describe, test } from 'vitest';
import { accepted, expectError } from '../support/answers.js';
import type { Shop } from '../support/shop.js';
import { unixSeconds } from '../support/signing.js';
import type { World } from '../support/world.js';

const EVIL = { origin: 'https://evil.example' };
const OLD = unixSeconds(-4000);

/** The documented order of the checks: a request that fails two of them is told of the earlier one only. */
export function orderRules(world: World): void {
  describe('Order of the checks', () => {
    let shop: Shop;
    let other: Shop;
    beforeAll(async () => {
      shop = await world.shop();
      other = await world.otherShop();
    });

    test('API key before rate limit, address and everything else', async () => {
      const listed = await world.seed('--unverified', '--allowed-ip', '192.0.2.1');
      const answer = await listed.consent({}, { headers: { 'x-api-key': 'svc_live_nothing', ...EVIL } });
      expectError(answer, 401, 'INVALID_API_KEY');
    });
    test('Site verified before address', async () => {
      const listed = await world.seed('--unverified', '--allowed-ip', '192.0.2.1');
      expectError(await listed.get('/tool/v1/ping'), 403, 'SITE_NOT_VERIFIED');
    });
    test('Address before origin, origin before scope', async () => {
      const listed = await world.seed('--allowed-ip', '192.0.2.1', '--allowed-origin', 'https://shop.example');
      expectError(await listed.get('/tool/v1/ping', { headers: EVIL }), 403, 'IP_NOT_ALLOWED');
      const origins = await world.seed('--allowed-origin', 'https://shop.example');
      expectError(await origins.consent({}, { key: origins.readKey, headers: EVIL }), 403, 'ORIGIN_NOT_ALLOWED');
    });
    test('Scope before bearer token', async () => {
      const answer = await shop.mint({}, { key: shop.readKey, headers: { authorization: undefined } });
      expectError(answer, 403, 'INSUFFICIENT_SCOPE');
    });
    test('Tenant before role', async () => {
      const { access_token } = await other.signIn(other.seed.panel_user);
      const answer = await shop.mint({}, { headers: { authorization: `Bearer ${access_token}` } });
      expectError(answer, 403, 'TENANT_MISMATCH');
    });
    test('Bearer token before media type', async () => {
      const headers = { authorization: undefined, 'content-type': 'text/plain' };
      expectError(await shop.mint({}, { headers }), 401, 'MISSING_BEARER_TOKEN');
    });
    test('Media type before signature', async () => {
      const headers = { 'content-type': 'text/plain', 'x-signature': undefined };
      expectError(await shop.consent({}, { headers }), 415, 'UNSUPPORTED_MEDIA_TYPE');
    });
    test('Timestamp before nonce, nonce’s form before signature', async () => {
      const wrong = { nonce: 'short', signingKey: 'another' };
      expectError(await shop.consent({}, { ...wrong, timestamp: OLD }), 401, 'TIMESTAMP_EXPIRED');
      expectError(await shop.consent({}, wrong), 401, 'INVALID_NONCE');
    });
    test('Signature before nonce’s use', async () => {
      const nonce = randomUUID();
      accepted(await shop.consent(shop.cookieConsent(), { nonce }));
      expectError(await shop.consent({}, { nonce, signingKey: 'another' }), 401, 'INVALID_SIGNATURE');
    });
    test('Nonce before JSON and fields', async () => {
      const nonce = randomUUID();
      accepted(await shop.consent(shop.cookieConsent(), { nonce }));
      expectError(await shop.consent(null, { nonce, body: '{' }), 401, 'NONCE_REPLAYED');
      expectError(await shop.consent({}, { nonce }), 401, 'NONCE_REPLAYED');
    });
    test('Fields and payload limits before document version', async () => {
      const outdated = { document_version_id: undefined };
      expectError(
        await shop.consent(shop.cookieConsent({ ...outdated, decision: 'perhaps' })),
        422,
        'VALIDATION_ERROR',
      );
      const metadata = { a: 'x'.repeat(20_000) };
      expectError(await shop.consent(shop.cookieConsent({ ...outdated, metadata })), 422, 'METADATA_TOO_LARGE');
    });
    test('Document version before approval token', async () => {
      const document_version_id = shop.version(shop.approvalDocument, 'en', 'retired');
      expectError(await shop.consent(shop.approval({ document_version_id })), 409, 'CONFIG_OUTDATED');
    });
    test('Approval token before quota', async () => {
      const empty = await world.seed('--quota', '0');
      expectError(await empty.consent(empty.approval()), 422, 'APPROVAL_TOKEN_REQUIRED');
    });
  });
}
