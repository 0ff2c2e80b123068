import { beforeAll, describe, test } from 'vitest';
import { accepted, expectError, expectFieldError } from '../support/answers.js';
import type { Shop } from '../support/shop.js';
import type { World } from '../support/world.js';
import { BEYOND, type Fields, OPTIONAL, TAKEN, WRONG } from './consent-field-cases.js';

/** Specification, Resources, Consent record, and Limits: every field at its limit and just beyond it. */
export function consentFieldRules(world: World): void {
  describe('Consent record', () => {
    let shop: Shop;
    beforeAll(async () => {
      shop = await world.shop();
    });

    for (const [title, fields] of TAKEN) {
      test(`${title} is taken`, async () => {
        accepted(await shop.consent(shop.cookieConsent(fields())));
      });
    }
    for (const [field, title, value] of WRONG) {
      test(`${field} ${title}: 422 VALIDATION_ERROR, naming it in errors`, async () => {
        expectFieldError(await shop.consent(shop.cookieConsent({ [field]: value })), field);
      });
    }
    for (const [title, code, fields] of BEYOND) {
      test(`${title}: 422 ${code}`, async () => {
        expectError(await shop.consent(shop.cookieConsent(fields())), 422, code);
      });
      test(`${title}: 422 ${code}, on the S2S route as well`, async () => {
        expectError(await shop.s2sConsent(shop.cookieConsent(fields())), 422, code);
      });
    }
    test('An optional field that is null counts as absent', async () => {
      const nothing = Object.fromEntries(OPTIONAL.map((name) => [name, null]));
      accepted(await shop.s2sConsent(shop.cookieConsent(nothing)));
    });
    test('Several wrong fields are all named in errors', async () => {
      const answer = await shop.consent(shop.cookieConsent({ decision: 'perhaps', source: 's'.repeat(21) }));
      expectFieldError(answer, 'decision');
      expectFieldError(answer, 'source');
    });
    for (const body of ['[]', '"text"', '7', 'true', 'null', '[{}]']) {
      test(`A body that is ${body} and no object: 422 VALIDATION_ERROR`, async () => {
        expectError(await shop.consent(null, { body }), 422, 'VALIDATION_ERROR');
      });
    }
  });
}

/** Specification, Errors, CONFIG_OUTDATED. */
export function documentVersionRules(world: World): void {
  describe('Consent record, document version', () => {
    let shop: Shop;
    let other: Shop;
    beforeAll(async () => {
      shop = await world.shop();
      other = await world.otherShop();
    });

    const OUTDATED: readonly (readonly [string, () => Fields])[] = [
      ['missing', () => ({ document_version_id: undefined })],
      ['null', () => ({ document_version_id: null })],
      ['unknown', () => ({ document_version_id: '00000000-0000-4000-8000-000000000000' })],
      ['retired', () => ({ document_version_id: shop.version(shop.cookieDocument, 'en', 'retired') })],
      ['of another tenant’s site', () => ({ document_version_id: other.version(other.cookieDocument) })],
      ['in another language than language says', () => ({ language: 'tr' })],
      [
        'of a document that is no cookie policy, in a cookie consent',
        () => ({ document_version_id: shop.version(shop.approvalDocument) }),
      ],
    ];
    for (const [title, fields] of OUTDATED) {
      test(`document_version_id ${title}: 409 CONFIG_OUTDATED`, async () => {
        expectError(await shop.consent(shop.cookieConsent(fields())), 409, 'CONFIG_OUTDATED');
      });
      test(`document_version_id ${title}: 409 CONFIG_OUTDATED, on the S2S route as well`, async () => {
        expectError(await shop.s2sConsent(shop.cookieConsent(fields())), 409, 'CONFIG_OUTDATED');
      });
    }
    test('The version of each language is taken with that language, in either case of letters', async () => {
      for (const language of ['en', 'tr']) {
        const version = shop.version(shop.cookieDocument, language);
        accepted(await shop.consent(shop.cookieConsent({ document_version_id: version, language })));
        accepted(await shop.consent(shop.cookieConsent({ document_version_id: version })));
        const upper = { document_version_id: version.toUpperCase(), language: language.toUpperCase() };
        accepted(await shop.consent(shop.cookieConsent(upper)));
      }
    });
  });
}
