import { hash } from 'node:crypto';
import type { ConsentRequest } from '../../../schemas/api/consents.js';
import {
  type ConsentRecordedBody,
  HASH_VERSION,
  type WrittenConsentRecord,
} from '../../../schemas/events/consent-recorded.js';
import { consentRecordText } from '../../../schemas/evidence/consent-record-members.js';
import type { DisclosureName } from '../../../schemas/evidence/disclosed-values.js';
import type { JsonValue } from '../../../schemas/json/json-value.js';
import { ownMember } from '../../../schemas/json/own-member.js';
import { endOf, isRefusal, refusalDays, validityOf } from '../../../schemas/law/periods.js';
import { newEventId } from '../../platform/event-ids.js';
import {
  type BlindIndexKind,
  blindIndex,
  encryptForRecord,
  hmacSha256,
  type RandomPool,
  recordKey,
  SEED_BYTES,
  sealOfKeyRow,
} from '../../platform/keys/index.js';
import type { Caller, SiteContext } from '../../tenancy/directory/site-context.js';
import { vouchedFields } from './approval-tokens.js';
import type { Attachment } from './attachments.js';
import { encodeDisclosures, type KnownValues, personalFields } from './disclosures.js';
import type { Evaluation, SiteConfig } from './evaluate.js';
import { knownRule, type ParsedConsent, scopeOf } from './parse-consents.js';
import { decidedServices, withoutContradiction } from './services.js';

/** All rows that the transaction writes for one consent, and the data of the response. */
export interface PreparedConsent {
  readonly eventId: string;
  /** `ConsentRecordedBody` as JSON. */
  readonly body: Buffer;
  /** 32 bytes. */
  readonly proofHash: Buffer;
  /** SHA-256 of the record's canonical text, 32 bytes. */
  readonly recordDigest: Buffer;
  /** Unix milliseconds. */
  readonly createdAt: number;
  /** Time before which the service promises to seal the record, in Unix milliseconds. */
  readonly sealedBefore: number;
  readonly seed: Buffer;
  readonly indexes: Readonly<Record<BlindIndexKind, Buffer | null>>;
  /** Seal of the row in `record_keys`. */
  readonly keyRowSeal: Buffer;
  readonly tokenId: string | null;
  readonly attachments: readonly { readonly id: string; readonly ciphertext: Buffer }[];
}

/** Connection of a browser's request. */
export interface Connection {
  readonly ipAddress: string | null;
  readonly userAgent: string | null;
}

type Admissible = Extract<Evaluation, { readonly kind: 'admissible' }>;

export interface PrepareOptions {
  readonly consent: ParsedConsent;
  readonly evaluation: Admissible;
  readonly site: SiteContext;
  readonly caller: Pick<Caller, 'apiKey' | 'channel'>;
  readonly connection: Connection;
  /** Unix milliseconds. */
  readonly now: number;
  /** Milliseconds from `now` to the promised deadline of the record's sealing. */
  readonly sealWithinMs: number;
}

/** A record of any kind that is about to be made. */
export interface RecordDraft {
  readonly site: Pick<SiteContext, 'siteKey' | 'proofKey'>;
  readonly fields: ReadonlyMap<DisclosureName, JsonValue>;
  readonly attachments: readonly Attachment[];
  /** Unix milliseconds. */
  readonly now: number;
  /** Returns the canonical text of the record. */
  readonly textOf: (eventId: string, digests: WrittenConsentRecord['disclosures']) => string;
}

/** A record with its keys, without what only admission adds. */
export type PreparedRecord = Omit<PreparedConsent, 'sealedBefore' | 'tokenId'>;

/**
 * Creates the event of a consent: record, proof hash, encrypted disclosures and attachments, and
 * the row of the key table.
 */
export function prepareConsent(options: PrepareOptions, random: RandomPool): PreparedConsent {
  const { consent, evaluation, site, now } = options;
  const { attachments } = consent;
  const fields = personalFields(Object.keys(consent.request), consent.source, knownValues(options), attachments);
  const prepared = prepareRecord(
    {
      site,
      fields,
      attachments,
      now,
      textOf: (eventId, digests) => consentRecordText(recordOf(options, eventId, digests)),
    },
    random,
  );
  return { ...prepared, sealedBefore: now + options.sealWithinMs, tokenId: evaluation.token?.id ?? null };
}

/** Creates the event of a record, and the row of its key: the same for every kind of consent. */
export function prepareRecord(draft: RecordDraft, random: RandomPool): PreparedRecord {
  const { site, fields, now } = draft;
  const eventId = newEventId(now, random);
  const seed = random.take(SEED_BYTES);
  const key = recordKey(site.siteKey, seed, eventId);
  const { kept, digests } = encodeDisclosures(fields, random);
  const disclosures =
    fields.size === 0
      ? null
      : encryptForRecord(key, eventId, 'disclosures', Buffer.from(kept), random).toString('base64');
  const attachments = draft.attachments.map(({ content }) => {
    const id = newEventId(now, random);
    return { id, ciphertext: encryptForRecord(key, eventId, `attachment:${id}`, content, random) };
  });
  const record = draft.textOf(eventId, digests);
  const proofHash = hmacSha256(site.proofKey.key, record);
  // In this order `readConsentBody` reads it in one pass.
  const body: ConsentRecordedBody = {
    record,
    proof_hash: proofHash.toString('hex'),
    disclosures,
    attachments: attachments.map(({ id }) => id),
  };
  const indexes = indexesOf(fields, site.siteKey);
  return {
    eventId,
    body: Buffer.from(JSON.stringify(body)),
    proofHash,
    recordDigest: hash('sha256', record, 'buffer'),
    createdAt: now,
    seed,
    indexes,
    keyRowSeal: sealOfKeyRow(key, indexes),
    attachments,
  };
}

function recordOf(
  { consent, evaluation, site, caller, now }: PrepareOptions,
  eventId: string,
  digests: WrittenConsentRecord['disclosures'],
): WrittenConsentRecord {
  const { config, version, token } = evaluation;
  const { request } = consent;
  const common = commonMembers({ request, version, config, site, now }, eventId);
  const services = decidedServices(request, config.record);
  const validityDays = { none: null, own: config.record.validity_days, longest: site.longestValidityDays };
  return {
    v: 2,
    ...common,
    categories: withoutContradiction(common.categories, services),
    services,
    valid_until: endOf(now, validityDays[validityOf(common)]),
    ask_again_at: isRefusal(common) ? endOf(now, refusalDays(config.record)) : null,
    rule_id: knownRule(request, config.record),
    scope: scopeOf(request, config.record, caller.channel),
    channel: caller.channel,
    api_key_id: caller.apiKey.id,
    identity_assurance: token === null ? null : 'tenant_attested',
    approval_token_id: token?.id ?? null,
    vouched: token === null ? [] : vouchedFields(token),
    disclosures: digests,
  };
}

/** The choice that a record of any kind states, with the text and configuration of the question. */
export interface StatedChoice {
  readonly request: ConsentRequest;
  readonly version: Pick<Admissible['version'], 'id' | 'language' | 'contentSha256'>;
  readonly config: SiteConfig;
  readonly site: Pick<SiteContext, 'siteId' | 'proofKey'>;
  /** Unix milliseconds. */
  readonly now: number;
}

/** The members of a record of any kind and version, except those that say how it arrived and of its periods and rule. */
export type CommonMembers = Omit<
  WrittenConsentRecord,
  | 'v'
  | 'services'
  | 'valid_until'
  | 'ask_again_at'
  | 'rule_id'
  | 'scope'
  | 'channel'
  | 'api_key_id'
  | 'identity_assurance'
  | 'approval_token_id'
  | 'vouched'
  | 'disclosures'
>;

/** Returns the members that every kind of consent states in the same way. */
export function commonMembers({ request, version, config, site, now }: StatedChoice, eventId: string): CommonMembers {
  return {
    hash_version: HASH_VERSION,
    proof_key_id: site.proofKey.id,
    event_id: eventId,
    site_id: site.siteId,
    consent_type: request.consent_type,
    decision: request.decision,
    categories: knownCategories(request.categories ?? null, config),
    language: version.language,
    document_version_id: version.id,
    document_hash: version.contentSha256,
    site_config_hash: config.sha256,
    compliance_framework: request.compliance_framework ?? null,
    created_at: new Date(now).toISOString(),
  };
}

/** Returns the decisions on categories of the configuration, in its order. */
function knownCategories(asked: ConsentRequest['categories'], config: SiteConfig): Record<string, boolean> | null {
  if (asked == null) return null;
  const known: Record<string, boolean> = {};
  for (const { key } of config.record.categories) {
    const decision = ownMember(asked, key);
    if (decision !== undefined) known[key] = decision;
  }
  return known;
}

function knownValues({ caller, connection, evaluation }: PrepareOptions): KnownValues {
  const identity = evaluation.token?.identity;
  const known: Partial<Record<DisclosureName, string | boolean>> = {};
  if (caller.channel === 'browser') {
    if (connection.ipAddress !== null) known.ip_address = connection.ipAddress;
    if (connection.userAgent !== null) known.user_agent = connection.userAgent;
  }
  if (identity !== undefined) {
    const { subject, ...vouched } = identity;
    Object.assign(known, { visitor_id: subject }, vouched);
  }
  return known;
}

function indexesOf(fields: ReadonlyMap<DisclosureName, JsonValue>, siteKey: Uint8Array): PreparedConsent['indexes'] {
  const indexOf = (kind: BlindIndexKind, name: DisclosureName): Buffer | null => {
    const value = fields.get(name);
    return typeof value === 'string' && value !== '' ? blindIndex(siteKey, kind, value) : null;
  };
  return {
    visitor: indexOf('visitor', 'visitor_id'),
    email: indexOf('email', 'signer_email'),
    phone: indexOf('phone', 'signer_phone'),
    id_number: indexOf('id_number', 'signer_id_number'),
  };
}
