/*
 * The record of a consent: the public part of a `ConsentRecorded.v1`, as canonical JSON (RFC 8785).
 *
 * - The list of members is closed. Personal values are not among them: `disclosures` commits to each by a digest
 *   (schemas/evidence/disclosure.ts), so that they can be erased while the record stays verifiable.
 * - The text is hashed as it is stored. It is never parsed and serialised again: the event's body, the entry and the
 *   promise contain or hash the same bytes.
 * - Nothing in it links two records of one person.
 * - A category is true only if every service below it is, so that a reader who knows only categories permits less.
 *
 * An example without personal values; its SHA-256, which a promise states, is
 * 6a430f49ae5e3e4242315c8cdd48edbe9d83f7c28e97f221ee75c4fd78f2de4f:
 *
 *   {"api_key_id":"0190b3a4-5c00-7000-8000-000000000005","approval_token_id":null,"ask_again_at":null,
 *    "categories":null,"channel":"s2s","compliance_framework":"gdpr","consent_type":"newsletter",
 *    "created_at":"2026-01-01T00:00:00.000Z","decision":"accepted","disclosures":{},
 *    "document_hash":"6f0b9acf7c02ebf0aa3c62bcc4380556a586f881e50c1a0c1a058bf5104b6f89",
 *    "document_version_id":"0190b3a4-5c00-7000-8000-000000000004",
 *    "event_id":"0190b3a4-5c00-7000-8000-000000000002","hash_version":2,"identity_assurance":null,
 *    "language":"en","proof_key_id":"proof-1","rule_id":null,"scope":"device","services":null,
 *    "site_config_hash":"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
 *    "site_id":"0190b3a4-5c00-7000-8000-000000000001","v":2,"valid_until":null,"vouched":[]}
 *
 * The line breaks are not part of the text.
 */
import * as z from 'zod';
import { DISCLOSURE_NAMES } from '../evidence/disclosed-values.js';
import { DisclosureDigest, Instant, Sha256Hex, Uuid } from '../evidence/primitives.js';

export const CONSENT_RECORDED = 'ConsentRecorded.v1';

/** Scheme of the proof hash: hex HMAC-SHA-256(the tenant's proof key, JCS(record)). */
export const HASH_VERSION = 2;

export const DECISIONS = ['accepted', 'rejected', 'partial', 'withdrawn'] as const;

export const COMPLIANCE_FRAMEWORKS = [
  'kvkk',
  'gdpr',
  'uk_gdpr',
  'ccpa',
  'lgpd',
  'popia',
  'pipeda',
  'pipl',
  'pipa',
  'dpdp',
  'fadp',
  'none',
] as const;

/** The route by which a consent arrived, as determined by the service. The caller's `source` proves nothing. */
export const CHANNELS = ['browser', 's2s'] as const;

/** Whose choice a consent is: that of the device alone, or that of a person for whom a backend vouches. */
export const SCOPES = ['device', 'account'] as const;

/** How the person's identity is assured. */
export const ASSURANCES = ['tenant_attested'] as const;

/** The fields that a one-time token may vouch for, by the names of their disclosures, sorted. */
export const VOUCHABLE_FIELDS = [
  'custom_document_content',
  'otp_reference',
  'otp_verified',
  'signer_email',
  'signer_id_number',
  'signer_name',
  'signer_phone',
  'visitor_id',
] as const;

/**
 * The members that both versions of a record have: a closed list. Nothing in it links two records of one person; every
 * other field of the request is a disclosure, whose digest is in `disclosures` under its name.
 */
const members = {
  hash_version: z.literal(HASH_VERSION).describe('Version of the hash format.'),
  proof_key_id: z.string().min(1).max(80).describe('The key of the proof hash.'),
  event_id: Uuid.describe('The event in the log.'),
  site_id: Uuid.describe('The site.'),
  consent_type: z
    .string()
    .regex(/^[A-Za-z0-9_.-]{1,50}$/)
    .describe('Kind of the consent, for example `cookie`.'),
  decision: z.enum(DECISIONS).describe('Decision of the person. `partial`: some of the categories.'),
  /** Only categories of the site configuration in force, or null if the request named none. */
  categories: z
    .record(z.string().max(50), z.boolean())
    .nullable()
    .describe('The decision on each category: true if accepted; null: the consent has no categories.'),
  /** Language of the document version. */
  language: z.string().min(2).max(35).describe('Language (BCP 47).'),
  document_version_id: Uuid.describe('The version of the document that the person was shown.'),
  /** SHA-256 of the content's bytes of that version. */
  document_hash: Sha256Hex.describe('SHA-256 of the text that the person was shown, in hex.'),
  /** SHA-256 of the JCS text of the record of the `SiteConfigPublished` in force. */
  site_config_hash: Sha256Hex.describe('SHA-256 of the configuration in which the person was asked, in hex.'),
  compliance_framework: z
    .enum(COMPLIANCE_FRAMEWORKS)
    .nullable()
    .describe('Law under which the person was asked; null: not known.'),
  created_at: Instant.describe('When the consent was recorded.'),
  valid_until: Instant.nullable().describe('Until when the consent is valid; null: not limited.'),
  channel: z
    .enum(CHANNELS)
    .describe('`browser`: stated by an anonymous browser; `s2s`: stated by a backend of the tenant.'),
  api_key_id: Uuid.describe('The API key with which the consent was recorded.'),
  /**
   * `tenant_attested`: the tenant's backend vouched for the person, by a one-time token. Null if the backend did not.
   */
  identity_assurance: z
    .enum(ASSURANCES)
    .nullable()
    .describe('`tenant_attested`: a backend of the tenant states who the person is; null: no statement.'),
  /** Id of that token, or null if there is none. */
  approval_token_id: z
    .string()
    .regex(/^[ap]tk_[A-Za-z0-9_-]{1,60}$/)
    .nullable()
    .describe('The one-time token that was used: `atk_`, an approval token; `ptk_`, a person token; null: none.'),
  /**
   * Names of the disclosures that the token vouched for, sorted. The record's other values about
   * the person are statements of the visitor.
   */
  vouched: z
    .array(z.enum(VOUCHABLE_FIELDS))
    .refine((names) => names.every((name, i) => i === 0 || (names[i - 1] ?? '') < name), 'must be sorted')
    .describe('Fields for which the tenant’s backend vouches with the one-time token.'),
  /**
   * Digests of the personal values, by name. Which values the record has is public; the values themselves are not. A
   * name cannot occur twice.
   */
  disclosures: z.partialRecord(z.enum(DISCLOSURE_NAMES), DisclosureDigest),
};

/** Version 1 of the record, in which a decision names no services. Imported consents have its members. */
export const ConsentRecordV1 = z.strictObject({ v: z.literal(1), ...members });

/** Id of a rule of a site's configuration. */
export const RuleId = z.string().regex(/^[a-z0-9_-]{1,50}$/, 'must be 1 to 50 lower-case letters, digits, - and _');

/**
 * Version 2 of the record, in which consents are recorded. Records have either all of `ask_again_at`, `rule_id` and
 * `scope` or, before rules, none of them (`ConsentRecord`).
 */
export const ConsentRecordV2 = z.strictObject({
  v: z.literal(2),
  ...members,
  ask_again_at: Instant.nullable()
    .exactOptional()
    .describe('When a person who refused may be asked again; null: the decision is no refusal, or stands for ever.'),
  rule_id: RuleId.nullable()
    .exactOptional()
    .describe('The rule of the configuration by which the person was asked, as the caller states; null: none.'),
  /** Only a consent for which a backend vouches is an account's (`isVouched`). */
  scope: z
    .enum(SCOPES)
    .exactOptional()
    .describe('`account`: for every device of a person for whom a backend vouches; `device`: for the device alone.'),
  /**
   * The decision on each service, by its category: true if accepted. A category is true only if all of its services
   * are, which is why they stand under it: so the record can be checked by itself. Null if the site's visitors cannot
   * decide on services, or if the request named no category that has some, and no service.
   */
  services: z
    .record(z.string().max(50), z.record(z.string().max(50), z.boolean()))
    .nullable()
    .describe('The decision on each service, by its category: true if accepted; null: none was asked for.'),
});
export type ConsentRecordV2 = z.infer<typeof ConsentRecordV2>;

/** A record as the service writes it. */
export type WrittenConsentRecord = Required<ConsentRecordV2>;

/** The record of a consent, in either version. */
export const ConsentRecord = z
  .discriminatedUnion('v', [ConsentRecordV1, ConsentRecordV2])
  .refine(
    (record) =>
      record.v === 1 ||
      new Set([record.rule_id, record.ask_again_at, record.scope].map((member) => member === undefined)).size === 1,
    { error: 'has only some of `rule_id`, `ask_again_at` and `scope`' },
  );
export type ConsentRecord = z.infer<typeof ConsentRecord>;

/**
 * Whether a backend vouches for the person of a record: by its own request, or by a person token. An approval token
 * stands for a document, and not for a person.
 */
export function isVouched({
  channel,
  disclosures,
  approval_token_id: tokenId,
  vouched,
}: Pick<ConsentRecordV2, 'disclosures' | 'approval_token_id' | 'vouched'> & { readonly channel: string }): boolean {
  const isByToken = isPersonTokenId(tokenId) && vouched.includes('visitor_id');
  return disclosures.visitor_id !== undefined && (channel === 's2s' || isByToken);
}

/** Whether a one-time token is a person token. @param tokenId null: no token */
export function isPersonTokenId(tokenId: string | null): boolean {
  return tokenId?.startsWith('ptk_') === true;
}

/** Whether a record has an approval token, without which some documents cannot be approved. */
export function hasApprovalToken({ approval_token_id: tokenId }: Pick<ConsentRecordV2, 'approval_token_id'>): boolean {
  return tokenId?.startsWith('atk_') === true;
}

/** The event's body. Personal data is only in `disclosures`, encrypted under the record's key. */
export const ConsentRecordedBody = z.strictObject({
  /** JCS(ConsentRecord), as text: the bytes that are hashed. */
  record: z.string(),
  proof_hash: Sha256Hex,
  /** base64 of the encrypted disclosures (`disclosuresOf`), or null if there are none. */
  disclosures: z.string().nullable(),
  /** Ids of the encrypted attachments of this record. */
  attachments: z.array(Uuid).max(8),
});
export type ConsentRecordedBody = z.infer<typeof ConsentRecordedBody>;

/** The public handle of a consent: `ct_` and its event id without dashes. */
export function consentToken(eventId: string): string {
  return `ct_${eventId.replaceAll('-', '')}`;
}

/** The event id of a consent token, or null for anything else. */
export function eventIdOfConsentToken(token: string): string | null {
  const match = /^ct_([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/.exec(token);
  return match === null ? null : match.slice(1).join('-');
}

const TEST_TOKEN = 'ct_test_';

/** The handle of a test record, which no look-up of live records can mistake for one of theirs. */
export function testConsentToken(eventId: string): string {
  return TEST_TOKEN + eventId.replaceAll('-', '');
}

/** The id of the test record that a token names, or null for anything else. */
export function eventIdOfTestToken(token: string): string | null {
  return token.startsWith(TEST_TOKEN) ? eventIdOfConsentToken(`ct_${token.slice(TEST_TOKEN.length)}`) : null;
}
