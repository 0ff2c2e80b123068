import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { ApprovalTokenRequest, ApprovalTokenResponse } from '../../../schemas/api/approval-tokens.js';
import { CONSENT_LIMITS } from '../../../schemas/api/consent-limits.js';
import type { PersonTokenRequest, PersonTokenResponse } from '../../../schemas/api/person-tokens.js';
import { VOUCHABLE_FIELDS } from '../../../schemas/events/consent-recorded.js';
import { parseStrictJson } from '../../../schemas/json/strict-json.js';
import { type Queryable, withTransaction } from '../../platform/database/pool.js';
import { RequestRefused } from '../../platform/errors.js';
import {
  approvalTokenKey,
  blindIndex,
  decryptForToken,
  encryptForToken,
  type RandomPool,
  type RowSeals,
  SEED_BYTES,
  SealedBytes,
  sealed,
  sealedRow,
} from '../../platform/keys/index.js';
import type { SiteContext } from '../../tenancy/directory/site-context.js';

/**
 * Identity that a tenant's backend vouches for when it mints a token. It is stored only encrypted, in the row of the
 * token.
 */
const TokenIdentity = z.strictObject({
  subject: z.string().min(1).max(CONSENT_LIMITS.visitorId),
  signer_name: z.string().exactOptional(),
  signer_email: z.string().exactOptional(),
  signer_phone: z.string().exactOptional(),
  signer_id_number: z.string().exactOptional(),
  otp_verified: z.boolean().exactOptional(),
  otp_reference: z.string().exactOptional(),
});
type TokenIdentity = z.infer<typeof TokenIdentity>;

/**
 * An approval token or a person token, as read before the transaction. Only the transaction decides whether it can
 * still be consumed.
 */
export interface FoundToken {
  readonly id: string;
  /** Null for a person token. */
  readonly documentId: string | null;
  readonly documentVersionId: string | null;
  readonly customDocumentHash: string | null;
  readonly isConsumed: boolean;
  readonly isExpired: boolean;
  readonly identity: TokenIdentity;
}

/** Returns the sorted names of the disclosures that a token vouches for. */
export function vouchedFields({ identity, customDocumentHash }: FoundToken): (typeof VOUCHABLE_FIELDS)[number][] {
  return VOUCHABLE_FIELDS.filter((name) => {
    if (name === 'visitor_id') return true;
    if (name === 'custom_document_content') return customDocumentHash !== null;
    return identity[name] !== undefined;
  });
}

const TOKEN_BYTES = 32;
const TOKEN_ID_BYTES = 16;

/** The table of tokens, and what follows the prefixes of tokens and ids. */
const LIVE_TOKENS = { table: 'approval_tokens', mark: '' } as const;
export const TEST_TOKENS = { table: 'test_approval_tokens', mark: 'test_' } as const;
type TokenKind = typeof LIVE_TOKENS | typeof TEST_TOKENS;

const FoundRows = z.array(
  z.object({ sealed: sealedRow('approval_tokens'), is_consumed: z.boolean(), is_expired: z.boolean() }),
);
const TokenColumns = z.object({
  id: z.string(),
  digest: SealedBytes,
  document_id: z.string().nullable(),
  document_version_id: z.string().nullable(),
  custom_document_hash: z.string().nullable(),
  seed: SealedBytes,
  identity: SealedBytes,
});

/**
 * Looks up approval tokens and person tokens. This happens before the transaction that consumes them, because the
 * record contains their details.
 * @returns the site's tokens among `tokens`, by their secret; none whose row was altered
 */
export async function findApprovalTokens(
  db: Queryable,
  seals: RowSeals,
  site: Pick<SiteContext, 'siteId' | 'siteKey'>,
  tokens: readonly string[],
): Promise<ReadonlyMap<string, FoundToken>> {
  const tokenByDigest = new Map(tokens.map((token) => [digestOf(token).toString('hex'), token]));
  const { rows } = await db.query({
    name: 'find_approval_tokens',
    text: `select ${sealed('approval_tokens', 't')} as sealed, consumed_by is not null as is_consumed,
             expires_at <= clock_timestamp() as is_expired
           from approval_tokens t where digest = any ($1) and site_id = $2`,
    values: [[...tokenByDigest.keys()].map((hex) => Buffer.from(hex, 'hex')), site.siteId],
  });
  const found = new Map<string, FoundToken>();
  for (const { sealed, is_consumed: isConsumed, is_expired: isExpired } of FoundRows.parse(rows)) {
    const row = await seals.open(sealed, TokenColumns);
    const token = row === null ? undefined : tokenByDigest.get(row.digest.toString('hex'));
    if (row !== null && token !== undefined) found.set(token, { ...openedToken(site, row), isConsumed, isExpired });
  }
  return found;
}

const TestRows = z.array(
  TokenColumns.extend({
    digest: z.instanceof(Buffer),
    seed: z.instanceof(Buffer),
    identity: z.instanceof(Buffer),
    is_consumed: z.boolean(),
    is_expired: z.boolean(),
  }),
);

/** Looks up the tokens of test keys. They only permit test records, so their rows have no row seal. */
export async function findTestTokens(
  db: Queryable,
  site: Pick<SiteContext, 'siteId' | 'siteKey'>,
  tokens: readonly string[],
): Promise<ReadonlyMap<string, FoundToken>> {
  const tokenByDigest = new Map(tokens.map((token) => [digestOf(token).toString('hex'), token]));
  const { rows } = await db.query(
    `select t.*, consumed_by is not null as is_consumed, expires_at <= clock_timestamp() as is_expired
       from test_approval_tokens t where digest = any ($1) and site_id = $2`,
    [[...tokenByDigest.keys()].map((hex) => Buffer.from(hex, 'hex')), site.siteId],
  );
  return new Map(
    TestRows.parse(rows).map(({ is_consumed: isConsumed, is_expired: isExpired, ...row }) => [
      tokenByDigest.get(row.digest.toString('hex')) ?? '',
      { ...openedToken(site, row), isConsumed, isExpired },
    ]),
  );
}

type TokenColumns = Omit<z.infer<typeof TokenColumns>, 'digest' | 'seed' | 'identity'>;

function openedToken(
  { siteKey }: Pick<SiteContext, 'siteKey'>,
  row: TokenColumns & { readonly seed: Uint8Array; readonly identity: Uint8Array },
): Omit<FoundToken, 'isConsumed' | 'isExpired'> {
  const identity = decryptForToken(approvalTokenKey(siteKey, row.seed, row.id), row.id, row.identity);
  return {
    id: row.id,
    documentId: row.document_id,
    documentVersionId: row.document_version_id,
    customDocumentHash: row.custom_document_hash,
    identity: TokenIdentity.parse(parseStrictJson(identity)),
  };
}

/**
 * Mints a one-time approval token. The database stores only its SHA-256, so the response is the
 * only place where the secret appears.
 * @throws RequestRefused DOCUMENT_NOT_FOUND, VERSION_NOT_FOUND, VALIDATION_ERROR
 */
export async function mintApprovalToken(
  db: Queryable,
  random: RandomPool,
  site: SiteContext,
  request: ApprovalTokenRequest,
  kind: TokenKind = LIVE_TOKENS,
): Promise<ApprovalTokenResponse['data']> {
  const document = documentOf(site, request);
  const { token, id, ...expiry } = await mint(db, random, site, {
    kind,
    prefixes: { token: 'hat_', id: 'atk_' },
    document,
    customDocumentHash: request.custom_document_hash?.toLowerCase() ?? null,
    identity: request,
    expiresIn: request.expires_in ?? CONSENT_LIMITS.approvalTokenSeconds.default,
  });
  return {
    approval_token: token,
    approval_token_id: id,
    ...expiry,
    document_id: document.documentId,
    document_slug: document.slug,
    document_version_id: document.versionId,
  };
}

/**
 * Mints a person token: for one recorded choice of an account, and to read what the person chose. Stored like an approval
 * token, without a document.
 * @throws RequestRefused ACCOUNTS_OFF
 */
export async function mintPersonToken(
  db: Queryable,
  random: RandomPool,
  site: SiteContext,
  { person }: PersonTokenRequest,
  kind: TokenKind = LIVE_TOKENS,
): Promise<PersonTokenResponse['data']> {
  if (site.config?.record.accounts === undefined) throw new RequestRefused('ACCOUNTS_OFF');
  const { token, id, ...expiry } = await mint(db, random, site, {
    kind,
    prefixes: { token: 'hpt_', id: 'ptk_' },
    document: null,
    customDocumentHash: null,
    identity: { subject: person },
    expiresIn: CONSENT_LIMITS.personTokenSeconds,
  });
  return { person_token: token, person_token_id: id, ...expiry };
}

interface NewToken {
  readonly kind: TokenKind;
  readonly prefixes: { readonly token: string; readonly id: string };
  readonly document: TokenDocument | null;
  readonly customDocumentHash: string | null;
  readonly identity: ApprovalTokenRequest;
  /** Seconds. */
  readonly expiresIn: number;
}

const ExpiryRows = z.tuple([z.object({ expires_at: z.date() })]);

async function mint(
  db: Queryable,
  random: RandomPool,
  site: SiteContext,
  { kind, prefixes, document, customDocumentHash, identity: stated, expiresIn }: NewToken,
) {
  const token = prefixes.token + kind.mark + random.take(TOKEN_BYTES).toString('base64url');
  const id = prefixes.id + kind.mark + random.take(TOKEN_ID_BYTES).toString('base64url');
  const seed = random.take(SEED_BYTES);
  const identity = JSON.stringify({
    subject: stated.subject,
    signer_name: stated.signer_name ?? undefined,
    signer_email: stated.signer_email ?? undefined,
    signer_phone: stated.signer_phone ?? undefined,
    signer_id_number: stated.signer_id_number ?? undefined,
    otp_verified: stated.otp_verified ?? undefined,
    otp_reference: stated.otp_reference ?? undefined,
  } satisfies Record<keyof TokenIdentity, string | boolean | undefined>);
  const key = approvalTokenKey(site.siteKey, seed, id);
  const index = (kind: 'email' | 'phone' | 'id_number', value: string | null | undefined): Buffer | null =>
    value == null || value === '' ? null : blindIndex(site.siteKey, kind, value);
  const insert = {
    name: `mint ${kind.table}`,
    text: `insert into ${kind.table} (id, site_id, digest, document_id, document_version_id, custom_document_hash, seed, identity,
             visitor_index, email_index, phone_index, id_number_index, created_at, expires_at)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, now(), now() + make_interval(secs => $13))
           returning expires_at`,
    values: [
      id,
      site.siteId,
      digestOf(token),
      document?.documentId ?? null,
      document?.versionId ?? null,
      customDocumentHash,
      seed,
      encryptForToken(key, id, Buffer.from(identity), random),
      blindIndex(site.siteKey, 'visitor', stated.subject),
      index('email', stated.signer_email),
      index('phone', stated.signer_phone),
      index('id_number', stated.signer_id_number),
      expiresIn,
    ],
  };
  // A transaction seals the row.
  const { rows } = await withTransaction(db, (db) => db.query(insert));
  const [{ expires_at: expiresAt }] = ExpiryRows.parse(rows);
  return { token, id, expires_in: expiresIn, expires_at: expiresAt.toISOString() };
}

interface TokenDocument {
  readonly documentId: string;
  readonly slug: string;
  readonly versionId: string | null;
}

/**
 * Returns the document that the token approves: one active version, or the version that is active
 * when the token is consumed.
 */
function documentOf(site: SiteContext, request: ApprovalTokenRequest): TokenDocument {
  const slug = request.document_slug ?? null;
  if (request.document_version_id != null) {
    const version = site.activeVersions.get(request.document_version_id.toLowerCase());
    if (version === undefined)
      throw new RequestRefused('VERSION_NOT_FOUND', 'document_version_id is not an active version of this site.');
    if (slug !== null && slug !== version.slug) {
      throw new RequestRefused('VALIDATION_ERROR', undefined, {
        errors: [{ field: 'document_version_id', message: 'is not a version of document_slug' }],
      });
    }
    return { documentId: version.documentId, slug: version.slug, versionId: version.id };
  }
  for (const version of site.activeVersions.values()) {
    if (version.slug === slug) return { documentId: version.documentId, slug: version.slug, versionId: null };
  }
  throw new RequestRefused(
    'DOCUMENT_NOT_FOUND',
    'document_slug is not a document of this site with an active version.',
  );
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
