import { beforeAll, describe, test } from 'vitest';
import { accepted, expectError, expectFieldError } from '../support/answers.js';
import { objectOfBytes, objectOfKeys, pdfOfBytes, pngOfBytes } from '../support/contents.js';
import { newKey, type Shop } from '../support/shop.js';
import type { World } from '../support/world.js';

type Fields = Readonly<Record<string, unknown>>;

/** Values of single fields that are taken: 202. */
const TAKEN: readonly (readonly [title: string, fields: () => Fields])[] = [
  ['consent_type of 1 character', () => ({ consent_type: 'a' })],
  ['consent_type of 50 characters', () => ({ consent_type: 'a'.repeat(50) })],
  ['consent_type of every kind of allowed character', () => ({ consent_type: 'AZaz09_-.' })],
  ['consent_type do_not_sell_opt_out', () => ({ consent_type: 'do_not_sell_opt_out' })],
  ...['accepted', 'rejected', 'partial', 'withdrawn'].map(
    (decision) => [`decision ${decision}`, () => ({ decision })] as const,
  ),
  ['language equal to the version’s', () => ({ language: 'en' })],
  ['categories: an object of booleans', () => ({ categories: { necessary: true, analytics: false } })],
  ['categories: an empty object', () => ({ categories: {} })],
  ['categories that the banner does not define', () => ({ categories: { unheard_of: true } })],
  ['idempotency_key of 8 characters', () => ({ idempotency_key: newKey().slice(-8) })],
  ['idempotency_key of 64 characters', () => ({ idempotency_key: newKey().repeat(2).slice(-64) })],
  [
    'idempotency_key of every kind of allowed character',
    () => ({ idempotency_key: `AZaz09._:-${newKey().slice(-12)}` }),
  ],
  ['visitor_id of 100 characters', () => ({ visitor_id: 'v'.repeat(100) })],
  ['visitor_region of 10 characters', () => ({ visitor_region: 'r'.repeat(10) })],
  ['visitor_country of 2 characters', () => ({ visitor_country: 'TR' })],
  ...['kvkk', 'gdpr', 'uk_gdpr', 'ccpa', 'lgpd', 'popia', 'pipeda', 'pipl', 'pipa', 'none'].map(
    (framework) => [`compliance_framework ${framework}`, () => ({ compliance_framework: framework })] as const,
  ),
  ['source of 20 characters', () => ({ source: 's'.repeat(20) })],
  ['metadata with 30 keys', () => ({ metadata: objectOfKeys(30) })],
  ['metadata of 16384 bytes', () => ({ metadata: objectOfBytes(16_384) })],
  ['metadata with nested values', () => ({ metadata: { a: [1, 'two', null, { three: true }], b: -1.5e-3 } })],
  ['extra_fields with 30 keys', () => ({ extra_fields: objectOfKeys(30) })],
  ['extra_fields of 16384 bytes', () => ({ extra_fields: objectOfBytes(16_384) })],
  ['extra_fields with a name of 100 characters', () => ({ extra_fields: { ['n'.repeat(100)]: 1 } })],
  ['signature_image: a PNG', () => ({ signature_image: pngOfBytes(1000), signature_mime_type: 'image/png' })],
  ['signature_image of 262144 bytes', () => ({ signature_image: pngOfBytes(262_144) })],
  ['signature_image as a data URL', () => ({ signature_image: `data:image/png;base64,${pngOfBytes(1000)}` })],
  ['signer_name', () => ({ signer_name: 'Ayşe Yılmaz' })],
  ['signer_email', () => ({ signer_email: 'ayse@example.org' })],
  ['signer_phone', () => ({ signer_phone: '+90 555 000 00 00' })],
  ['signer_id_number', () => ({ signer_id_number: '10000000146' })],
  ['declaration_text', () => ({ declaration_text: 'I have read this and agree.' })],
  ['drawing_duration_ms', () => ({ drawing_duration_ms: 2500 })],
  ['stroke_count', () => ({ stroke_count: 3 })],
  ['strokes_data', () => ({ strokes_data: [[{ x: 1, y: 2 }], [{ x: 3, y: 4 }]] })],
  ['strokes_data of 65536 bytes', () => ({ strokes_data: 'x'.repeat(65_534) })],
  ['input_type', () => ({ input_type: 'touch' })],
  ['screen_resolution', () => ({ screen_resolution: '1920x1080' })],
  [
    'custom_document_content: a PDF',
    () => ({ custom_document_content: pdfOfBytes(1000), custom_document_mime_type: 'application/pdf' }),
  ],
  [
    'custom_document_content of 1048576 bytes',
    () => ({ custom_document_content: pdfOfBytes(1_048_576), custom_document_mime_type: 'application/pdf' }),
  ],
  [
    'custom_document_content: a text',
    () => ({ custom_document_content: 'I agree to ğ.', custom_document_mime_type: 'text/plain' }),
  ],
  ['a field that the table does not name', () => ({ unheard_of: 'x' })],
];

/** Values of single fields that are a VALIDATION_ERROR, which names the field. */
const WRONG: readonly (readonly [field: string, title: string, value: unknown])[] = [
  ['consent_type', 'missing', undefined],
  ['consent_type', 'empty', ''],
  ['consent_type', 'of 51 characters', 'a'.repeat(51)],
  ['consent_type', 'with a space', 'a b'],
  ['consent_type', 'with a letter outside ASCII', 'çerez'],
  ['consent_type', 'with a line feed at its end', 'cookie\n'],
  ['consent_type', 'that is a number', 1],
  ['decision', 'missing', undefined],
  ['decision', 'accept', 'accept'],
  ['decision', 'in upper case', 'ACCEPTED'],
  ['decision', 'true', true],
  ['document_version_id', 'that is no UUID', 'version-1'],
  ['document_version_id', 'that is a number', 7],
  ['language', 'that is a number', 1],
  ['idempotency_key', 'of 7 characters', 'a'.repeat(7)],
  ['idempotency_key', 'of 65 characters', 'a'.repeat(65)],
  ['idempotency_key', 'with a space', 'aaaa aaaa'],
  ['idempotency_key', 'with a slash', 'aaaa/aaaa'],
  ['idempotency_key', 'that is a number', 123456789],
  ['visitor_id', 'of 101 characters', 'v'.repeat(101)],
  ['visitor_id', 'that is a number', 42],
  ['visitor_region', 'of 11 characters', 'r'.repeat(11)],
  ['visitor_country', 'of 3 characters', 'TUR'],
  ['compliance_framework', 'that is not in the list', 'hipaa'],
  ['compliance_framework', 'in upper case', 'GDPR'],
  ['source', 'of 21 characters', 's'.repeat(21)],
  ['metadata', 'that is an array', ['a']],
  ['metadata', 'that is a string', 'a'],
  ['extra_fields', 'that is an array', ['a']],
  ['extra_fields', 'that is a number', 1],
];

const OPTIONAL = [
  'language',
  'categories',
  'idempotency_key',
  'visitor_id',
  'visitor_region',
  'visitor_country',
  'compliance_framework',
  'source',
  'metadata',
  'extra_fields',
  'approval_token',
  'signature_image',
  'signature_mime_type',
  'signer_name',
  'signer_email',
  'signer_phone',
  'signer_id_number',
  'declaration_text',
  'drawing_duration_ms',
  'stroke_count',
  'strokes_data',
  'input_type',
  'screen_resolution',
  'custom_document_content',
  'custom_document_mime_type',
  'ip_address',
  'user_agent',
  'otp_verified',
  'otp_reference',
];

/** Contents that break a limit of the error table: 422 with their own code. */
const BEYOND: readonly (readonly [title: string, code: string, fields: () => Fields])[] = [
  ['categories that is an array', 'INVALID_CATEGORIES', () => ({ categories: ['necessary'] })],
  ['categories that is a string', 'INVALID_CATEGORIES', () => ({ categories: 'all' })],
  ['categories with a value that is no boolean', 'INVALID_CATEGORIES', () => ({ categories: { necessary: 'yes' } })],
  ['metadata with 31 keys', 'METADATA_TOO_MANY_KEYS', () => ({ metadata: objectOfKeys(31) })],
  ['metadata of 16385 bytes', 'METADATA_TOO_LARGE', () => ({ metadata: objectOfBytes(16_385) })],
  ['extra_fields with 31 keys', 'EXTRA_FIELDS_TOO_MANY_KEYS', () => ({ extra_fields: objectOfKeys(31) })],
  ['extra_fields of 16385 bytes', 'EXTRA_FIELDS_TOO_LARGE', () => ({ extra_fields: objectOfBytes(16_385) })],
  [
    'extra_fields with a name of 101 characters',
    'EXTRA_FIELD_NAME_TOO_LONG',
    () => ({ extra_fields: { ['n'.repeat(101)]: 1 } }),
  ],
  ['strokes_data of 65537 bytes', 'STROKES_DATA_TOO_LARGE', () => ({ strokes_data: 'x'.repeat(65_535) })],
  ['signature_image that is no base64', 'INVALID_SIGNATURE_IMAGE', () => ({ signature_image: '!!!' })],
  ['signature_image that is no image', 'INVALID_SIGNATURE_IMAGE', () => ({ signature_image: 'aGVsbG8gd29ybGQ=' })],
  [
    'signature_image of another type than signature_mime_type says',
    'INVALID_SIGNATURE_IMAGE',
    () => ({ signature_image: pngOfBytes(1000), signature_mime_type: 'image/jpeg' }),
  ],
  [
    'signature_image that is SVG',
    'INVALID_SIGNATURE_IMAGE',
    () => ({
      signature_image: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>').toString('base64'),
      signature_mime_type: 'image/svg+xml',
    }),
  ],
  ['signature_image of 262145 bytes', 'SIGNATURE_IMAGE_TOO_LARGE', () => ({ signature_image: pngOfBytes(262_145) })],
  [
    'custom_document_content that is no base64 of a PDF',
    'INVALID_CUSTOM_DOCUMENT',
    () => ({ custom_document_content: '!!!', custom_document_mime_type: 'application/pdf' }),
  ],
  [
    'custom_document_content that is no PDF',
    'INVALID_CUSTOM_DOCUMENT',
    () => ({ custom_document_content: 'aGVsbG8gd29ybGQ=', custom_document_mime_type: 'application/pdf' }),
  ],
  [
    'custom_document_mime_type of a program',
    'UNSUPPORTED_CUSTOM_DOCUMENT_TYPE',
    () => ({ custom_document_content: 'TVqQAAMA', custom_document_mime_type: 'application/x-msdownload' }),
  ],
  [
    'custom_document_content of 1048577 bytes',
    'CUSTOM_DOCUMENT_TOO_LARGE',
    () => ({ custom_document_content: pdfOfBytes(1_048_577), custom_document_mime_type: 'application/pdf' }),
  ],
];

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
