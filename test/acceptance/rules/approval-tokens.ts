import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { accepted, expectError, expectFieldError, type MintedToken, minted } from '../support/answers.js';
import { newVisitor, type Shop } from '../support/shop.js';
import { eventually, sleep } from '../support/wait.js';
import type { World } from '../support/world.js';
import { statusOf } from './status.js';

type Fields = Readonly<Record<string, unknown>>;

/** Specification, Resources, Approval token request and response. */
export function approvalTokenRules(world: World): void {
  describe('Approval token, request and response', () => {
    let shop: Shop;
    let other: Shop;
    beforeAll(async () => {
      shop = await world.shop();
      other = await world.otherShop();
    });

    const TAKEN: readonly (readonly [string, () => Fields])[] = [
      ['document_slug alone', () => ({})],
      ['document_version_id alone', () => ({ document_slug: undefined, document_version_id: version() })],
      ['document_slug and document_version_id', () => ({ document_version_id: version() })],
      ['a subject of 100 characters', () => ({ subject: 's'.repeat(100) })],
      ['expires_in 30', () => ({ expires_in: 30 })],
      ['expires_in 3600', () => ({ expires_in: 3600 })],
      ['the identity details', () => ({ signer_name: 'A', signer_email: 'a@x.example', signer_phone: '+90' })],
      ['signer_id_number', () => ({ signer_id_number: '10000000146' })],
      ['an OTP check', () => ({ otp_verified: true, otp_reference: 'otp-1' })],
      ['custom_document_hash', () => ({ custom_document_hash: 'a'.repeat(64) })],
    ];
    const version = (): string => shop.version(shop.approvalDocument);
    for (const [title, fields] of TAKEN) {
      test(`${title}: 201`, async () => {
        minted(await shop.mint(fields()));
      });
    }

    const WRONG: readonly (readonly [field: string, title: string, fields: Fields])[] = [
      ['document_slug', 'neither document_slug nor document_version_id', { document_slug: undefined }],
      ['subject', 'no subject', { subject: undefined }],
      ['subject', 'a subject of 101 characters', { subject: 's'.repeat(101) }],
      ['subject', 'a subject that is a number', { subject: 7 }],
      ['document_version_id', 'a document_version_id that is no UUID', { document_version_id: 'v1' }],
      ['expires_in', 'expires_in 29', { expires_in: 29 }],
      ['expires_in', 'expires_in 3601', { expires_in: 3601 }],
      ['expires_in', 'expires_in that is no integer', { expires_in: 60.5 }],
      ['expires_in', 'expires_in that is a string', { expires_in: '600' }],
      ['custom_document_hash', 'a custom_document_hash of 63 characters', { custom_document_hash: 'a'.repeat(63) }],
      ['custom_document_hash', 'a custom_document_hash that is no hex', { custom_document_hash: 'z'.repeat(64) }],
      ['signer_name', 'a signer_name that is a number', { signer_name: 7 }],
    ];
    for (const [field, title, fields] of WRONG) {
      test(`${title}: 422 VALIDATION_ERROR, naming ${field} in errors`, async () => {
        expectFieldError(await shop.mint(fields), field);
      });
    }
    test('An unknown document_slug: 404 DOCUMENT_NOT_FOUND', async () => {
      expectError(await shop.mint({ document_slug: 'no-such-document' }), 404, 'DOCUMENT_NOT_FOUND');
    });
    test('An unknown document_version_id: 404 VERSION_NOT_FOUND', async () => {
      const fields = { document_slug: undefined, document_version_id: '00000000-0000-4000-8000-000000000000' };
      expectError(await shop.mint(fields), 404, 'VERSION_NOT_FOUND');
    });
    test('Another tenant’s document_version_id is as unknown: 404 VERSION_NOT_FOUND', async () => {
      const fields = { document_slug: undefined, document_version_id: other.version(other.approvalDocument) };
      expectError(await shop.mint(fields), 404, 'VERSION_NOT_FOUND');
    });

    test('data.approval_token starts with hat_, data.approval_token_id with atk_, and no two are alike', async () => {
      const tokens = [await shop.minted(), await shop.minted()];
      for (const { approval_token, approval_token_id } of tokens) {
        expect(approval_token).toMatch(/^hat_.{20,}$/);
        expect(approval_token_id).toMatch(/^atk_./);
        expect(approval_token).not.toContain(approval_token_id.slice(4));
      }
      expect(new Set(tokens.map(({ approval_token }) => approval_token)).size).toBe(2);
      expect(new Set(tokens.map(({ approval_token_id }) => approval_token_id)).size).toBe(2);
    });
    for (const [asked, given] of [
      [undefined, 600],
      [30, 30],
      [1234, 1234],
    ]) {
      test(`expires_in ${asked ?? 'not given'}: data.expires_in is ${given}, data.expires_at is now + ${given} s`, async () => {
        const before = Date.now();
        const { expires_in, expires_at } = await shop.minted({ expires_in: asked });
        expect(expires_in).toBe(given);
        const left = Date.parse(expires_at) - (given ?? 0) * 1000;
        expect(left).toBeGreaterThan(before - 5000);
        expect(left).toBeLessThan(Date.now() + 5000);
      });
    }
    test('data.document_id and data.document_slug name the document; without a version id data.document_version_id is null', async () => {
      const { id, slug } = shop.approvalDocument;
      expect(await shop.minted()).toMatchObject({ document_id: id, document_slug: slug, document_version_id: null });
    });
    test('With a version id data.document_version_id is that version, and the document is named as well', async () => {
      const { id, slug } = shop.approvalDocument;
      const token = await shop.minted({ document_slug: undefined, document_version_id: version() });
      expect(token).toMatchObject({ document_id: id, document_slug: slug, document_version_id: version() });
    });
  });
}

/** Specification, States and transitions: an approval token is minted, usable, consumed or expired. */
export function approvalTokenUseRules(world: World): void {
  describe('Approval token, states', () => {
    let shop: Shop;
    let other: Shop;
    let expiring: MintedToken;
    beforeAll(async () => {
      shop = await world.shop();
      other = await world.otherShop();
      expiring = await shop.minted({ expires_in: 30 });
    });
    const use = (fields: Fields) => shop.consent(shop.approval(fields));

    test('A document approval without the token that is required: 422 APPROVAL_TOKEN_REQUIRED', async () => {
      expectError(await use({}), 422, 'APPROVAL_TOKEN_REQUIRED');
      expectError(await shop.s2sConsent(shop.approval()), 422, 'APPROVAL_TOKEN_REQUIRED');
    });
    test('A usable token is consumed by a document approval: 202', async () => {
      accepted(await use({ approval_token: (await shop.minted()).approval_token }));
    });
    test('The S2S route takes tokens as well', async () => {
      const { approval_token } = await shop.minted();
      accepted(await shop.s2sConsent(shop.approval({ approval_token })));
    });
    test('A consumed token: 422 APPROVAL_TOKEN_CONFLICT', async () => {
      const { approval_token } = await shop.minted();
      accepted(await use({ approval_token }));
      expectError(await use({ approval_token }), 422, 'APPROVAL_TOKEN_CONFLICT');
    });
    test('Of ten approvals at once with one token exactly one is accepted', async () => {
      const { approval_token } = await shop.minted();
      const answers = await Promise.all(Array.from({ length: 10 }, () => use({ approval_token })));
      expect(answers.filter(({ status }) => status === 202)).toHaveLength(1);
      for (const answer of answers) if (answer.status !== 202) expectError(answer, 422, 'APPROVAL_TOKEN_CONFLICT');
    });
    for (const [what, token] of [
      ['unknown', `hat_${'A'.repeat(43)}`],
      ['of another form', 'nonsense'],
    ] as const) {
      test(`A token that is ${what}: 422 APPROVAL_TOKEN_INVALID`, async () => {
        expectError(await use({ approval_token: token }), 422, 'APPROVAL_TOKEN_INVALID');
      });
    }
    test('The token’s id is not the token: 422 APPROVAL_TOKEN_INVALID', async () => {
      const { approval_token_id } = await shop.minted();
      expectError(await use({ approval_token: approval_token_id }), 422, 'APPROVAL_TOKEN_INVALID');
    });
    test('Another tenant’s token is as unknown: 422 APPROVAL_TOKEN_INVALID', async () => {
      const { approval_token } = await other.minted();
      expectError(await use({ approval_token }), 422, 'APPROVAL_TOKEN_INVALID');
    });
    test('A token in a consent that is no document_approval: 422 APPROVAL_TOKEN_INVALID, and it stays usable', async () => {
      const { approval_token } = await shop.minted();
      expectError(await use({ approval_token, consent_type: 'do_not_sell_opt_out' }), 422, 'APPROVAL_TOKEN_INVALID');
      accepted(await use({ approval_token }));
    });
    test('A token of another document: 422 APPROVAL_TOKEN_INVALID', async () => {
      const { approval_token } = await shop.minted({ document_slug: shop.cookieDocument.slug });
      expectError(await use({ approval_token }), 422, 'APPROVAL_TOKEN_INVALID');
    });
    test('A token of one version is not good for another version: 422 APPROVAL_TOKEN_INVALID', async () => {
      const document_version_id = shop.version(shop.approvalDocument, 'tr');
      const { approval_token } = await shop.minted({ document_slug: undefined, document_version_id });
      expectError(await use({ approval_token }), 422, 'APPROVAL_TOKEN_INVALID');
      accepted(await use({ approval_token, document_version_id }));
    });
    test('A token of a document is good for each of its active versions', async () => {
      const { approval_token } = await shop.minted();
      accepted(await use({ approval_token, document_version_id: shop.version(shop.approvalDocument, 'tr') }));
    });
    test('Identity is taken from the token: its subject is the record’s visitor_id', async () => {
      const subject = newVisitor();
      const { approval_token } = await shop.minted({ subject });
      const { consent_token } = accepted(await use({ approval_token }));
      const listed = await eventually(
        () => statusOf(shop, subject),
        ({ length }) => length > 0,
      );
      expect(listed).toEqual([consent_token]);
    });
    for (const [field, vouched, said] of [
      ['signer_name', 'Ayşe', 'Fatma'],
      ['signer_email', 'ayse@x.example', 'fatma@x.example'],
      ['signer_phone', '+905550000000', '+905550000001'],
      ['signer_id_number', '10000000146', '10000000147'],
    ] as const) {
      test(`A request whose ${field} contradicts the token: 422 APPROVAL_TOKEN_CONFLICT, and the token stays usable`, async () => {
        const { approval_token } = await shop.minted({ [field]: vouched });
        expectError(await use({ approval_token, [field]: said }), 422, 'APPROVAL_TOKEN_CONFLICT');
        accepted(await use({ approval_token, [field]: vouched }));
      });
    }
    test('A request whose visitor_id contradicts the subject: 422 APPROVAL_TOKEN_CONFLICT', async () => {
      const { approval_token } = await shop.minted({ subject: newVisitor() });
      expectError(await use({ approval_token, visitor_id: newVisitor() }), 422, 'APPROVAL_TOKEN_CONFLICT');
    });
    test('With custom_document_hash the approval must carry exactly that content', async () => {
      const content = 'The contract, as it was agreed: ğ.';
      const custom_document_hash = createHash('sha256').update(content).digest('hex');
      const { approval_token } = await shop.minted({ custom_document_hash });
      const custom_document_mime_type = 'text/plain';
      expectError(await use({ approval_token }), 422, 'APPROVAL_TOKEN_CONFLICT');
      expectError(
        await use({ approval_token, custom_document_mime_type, custom_document_content: `${content} ` }),
        422,
        'APPROVAL_TOKEN_CONFLICT',
      );
      accepted(await use({ approval_token, custom_document_mime_type, custom_document_content: content }));
    });
    for (const [what, status, code, fields] of [
      ['its fields', 422, 'VALIDATION_ERROR', () => ({ decision: 'perhaps' })],
      ['a payload limit', 422, 'METADATA_TOO_LARGE', () => ({ metadata: { a: 'x'.repeat(20_000) } })],
      [
        'a retired document version',
        409,
        'CONFIG_OUTDATED',
        () => ({ document_version_id: shop.version(shop.approvalDocument, 'en', 'retired') }),
      ],
    ] as const) {
      test(`A request rejected for ${what} consumes no token`, async () => {
        const { approval_token } = await shop.minted();
        expectError(await use({ approval_token, ...fields() }), status, code);
        accepted(await use({ approval_token }));
      });
    }
    test('A request with a wrong signature consumes no token', async () => {
      const { approval_token } = await shop.minted();
      const forged = await shop.consent(shop.approval({ approval_token }), { signingKey: 'another' });
      expectError(forged, 401, 'INVALID_SIGNATURE');
      accepted(await use({ approval_token }));
    });
    test('A request rejected for the quota consumes no token', async () => {
      const small = await world.seed('--quota', '0', '--rate-limit', '1000');
      const { approval_token } = await small.minted();
      for (let i = 0; i < 2; i++) {
        const answer = await small.consent(small.approval({ approval_token }));
        expectError(answer, 429, 'CONSENT_LIMIT_EXCEEDED');
      }
    });
    test('A token whose expires_in has elapsed: 422 APPROVAL_TOKEN_INVALID', async () => {
      await sleep(Math.max(0, Date.parse(expiring.expires_at) + 2000 - Date.now()));
      expectError(await use({ approval_token: expiring.approval_token }), 422, 'APPROVAL_TOKEN_INVALID');
    });
  });
}
