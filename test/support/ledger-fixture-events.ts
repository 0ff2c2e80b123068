import { sha256, sha256Hex } from '../../schemas/crypto/digest.js';
import { toHex, utf8 } from '../../schemas/crypto/encoding.js';
import { CONSENT_RECORDED, type ConsentRecord } from '../../schemas/events/consent-recorded.js';
import { LEDGER_KEY_ANNOUNCED } from '../../schemas/events/ledger-key.js';
import { LEDGER_POLICY_SET, type LedgerPolicySetRecord } from '../../schemas/events/ledger-policy.js';
import {
  DOCUMENT_VERSION_ACTIVATED,
  DOCUMENT_VERSION_PUBLISHED,
  type DocumentVersionPublishedRecord,
} from '../../schemas/events/notices.js';
import { SITE_CONFIG_PUBLISHED, type SiteConfigPublishedRecord } from '../../schemas/events/site-config.js';
import { consentsStream, noticesStream, POLICY_STREAM } from '../../schemas/events/streams.js';
import { SUBJECT_ERASED } from '../../schemas/events/subject-erased.js';
import { encodeDisclosure } from '../../schemas/evidence/disclosure.js';
import { erasureTag } from '../../schemas/evidence/person-tag.js';
import { canonicalJson } from '../../schemas/json/canonical-json.js';
import type { JsonObject, JsonValue } from '../../schemas/json/json-value.js';
import { digestsByName } from './disclosure-digests.js';

/** An event to seal, with the data that an export needs. Tests change it before it is sealed. */
export interface FixtureEvent {
  /** Name of the event in tests. */
  readonly label: string;
  stream: string;
  type: string;
  eventId: string;
  record: JsonObject;
  proofHash: string | null;
  /** In hex. */
  personTag: string | null;
  disclosures: string[];
  /** Bytes of the attachments that disclosures refer to. */
  attachments: Uint8Array[];
}

/** Content of the fixture's ledger: two sites, so that batches also contain foreign leaves. */
export interface FixtureWorld {
  readonly siteId: string;
  readonly otherSiteId: string;
  /** Exact bytes of the documents and configurations. */
  readonly texts: readonly Uint8Array[];
  /** Events in log order, by batch. */
  readonly batches: FixtureEvent[][];
  /** Labels of the erased consents and the label of the event that names each. */
  readonly erased: readonly { readonly consent: string; readonly by: string }[];
}

/** Returns a UUID that is the same for the same label. */
export function fixtureUuid(label: string): string {
  const hex = sha256Hex(`uuid ${label}`);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-7${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

const siteId = fixtureUuid('site');
const otherSiteId = fixtureUuid('other site');
const START = Date.parse('2026-03-01T10:00:00.000Z');

/** Returns a time this number of minutes after the beginning of the fixture. */
export function minute(minutes: number): Date {
  return new Date(START + minutes * 60_000);
}

export function fixtureDisclosure(salt: string, name: string, value: JsonValue): string {
  return encodeDisclosure(sha256(utf8(salt)).slice(0, 16), name, value);
}

const ENGLISH = utf8('# Cookies\n\nWe use cookies. <script>alert(1)</script>\n');
const TURKISH = utf8('# Çerezler\n\nÇerez kullanıyoruz. İstediğiniz zaman geri alabilirsiniz.\n');

const VALIDITY_DAYS = 365;

/** Returns the record of the fixture's configuration. */
export function configuration(): SiteConfigPublishedRecord {
  const text = { en: 'Text', tr: 'Metin' };
  return {
    v: 1,
    event_id: fixtureUuid('config'),
    site_id: siteId,
    created_at: minute(0).toISOString(),
    number: 1,
    domain: 'shop.example',
    controller: { legal_name: 'Örnek A.Ş.', contact: 'privacy@shop.example' },
    default_language: 'en',
    languages: ['en', 'tr'],
    validity_days: VALIDITY_DAYS,
    banner: { en: { title: 'Cookies' }, tr: { title: 'Çerezler' } },
    withdrawal: text,
    categories: [
      {
        key: 'analytics',
        required: false,
        title: text,
        purpose: text,
        lawful_basis: 'consent',
        personal_data: [],
        recipients: [],
        retention_days: 30,
      },
    ],
    cookies: [
      {
        name: '_visits',
        provider: 'Örnek A.Ş.',
        category: 'analytics',
        party: 'first',
        duration_seconds: null,
        purpose: text,
      },
    ],
  };
}

/** Returns the record of a document version, published a minute after the beginning. */
export function version(label: string, language: string, content: Uint8Array): DocumentVersionPublishedRecord {
  return {
    v: 1,
    event_id: fixtureUuid(`published ${label}`),
    site_id: siteId,
    created_at: minute(1).toISOString(),
    document_id: fixtureUuid('document'),
    document_version_id: fixtureUuid(label),
    slug: 'cookies',
    kind: 'cookie_policy',
    title: 'Cookies',
    language,
    number: 1,
    media_type: 'text/markdown',
    content_sha256: toHex(sha256(content)),
    requires_approval_token: false,
  };
}

export function notice(label: string, type: string, record: JsonObject): FixtureEvent {
  const base = { stream: noticesStream(siteId), proofHash: null, personTag: null, disclosures: [], attachments: [] };
  return { ...base, label, type, eventId: fixtureUuid(label), record };
}

/** Returns a consent `minutes` after the beginning, with two disclosures or the given ones. */
export function fixtureConsent(
  label: string,
  minutes: number,
  options: {
    site?: string;
    decision?: ConsentRecord['decision'];
    language?: 'en' | 'tr';
    disclosures?: string[];
    attachments?: Uint8Array[];
  } = {},
): FixtureEvent {
  const { site = siteId, language = 'en' } = options;
  const disclosures = options.disclosures ?? [
    fixtureDisclosure(`${label} 1`, 'visitor_id', `visitor of ${label}`),
    fixtureDisclosure(`${label} 2`, 'ip_address', '203.0.113.7'),
  ];
  const record: ConsentRecord = {
    v: 1,
    hash_version: 2,
    proof_key_id: 'pk_1',
    event_id: fixtureUuid(label),
    site_id: site,
    consent_type: 'cookies',
    decision: options.decision ?? 'accepted',
    categories: { analytics: true },
    language,
    document_version_id: fixtureUuid(language === 'en' ? 'version en' : 'version tr'),
    document_hash: toHex(sha256(language === 'en' ? ENGLISH : TURKISH)),
    site_config_hash: sha256Hex(canonicalJson(configuration())),
    compliance_framework: 'gdpr',
    created_at: minute(minutes).toISOString(),
    valid_until: minute(minutes + VALIDITY_DAYS * 24 * 60).toISOString(),
    channel: 'browser',
    api_key_id: fixtureUuid('api key'),
    identity_assurance: null,
    approval_token_id: null,
    vouched: [],
    disclosures: digestsByName(disclosures),
  };
  return {
    label,
    stream: consentsStream(site),
    type: CONSENT_RECORDED,
    eventId: fixtureUuid(label),
    record,
    proofHash: sha256Hex(`proof of ${label}`),
    personTag: sha256Hex(`person tag of ${label}`),
    disclosures,
    attachments: options.attachments ?? [],
  };
}

function erasure(label: string, minutes: number, consent: string): FixtureEvent {
  const record = {
    v: 1,
    event_id: fixtureUuid(label),
    site_id: siteId,
    created_at: minute(minutes).toISOString(),
    reason: 'person',
    erased_event_id: fixtureUuid(consent),
  };
  return {
    label,
    stream: consentsStream(siteId),
    type: SUBJECT_ERASED,
    eventId: fixtureUuid(label),
    record,
    proofHash: null,
    personTag: toHex(erasureTag(fixtureUuid(consent))),
    disclosures: [],
    attachments: [],
  };
}

/** Returns a policy of the ledger, as the service publishes it. */
export function policyEvent(
  number: number,
  minutes: number,
  change: Partial<LedgerPolicySetRecord> = {},
): FixtureEvent {
  const label = `policy ${number}`;
  const record: LedgerPolicySetRecord = {
    v: 1,
    event_id: fixtureUuid(label),
    created_at: minute(minutes).toISOString(),
    number,
    seal_within_seconds: 600,
    stamp_within_seconds: 3600,
    stamps: 1,
    witnesses: [],
    witnesses_required: 0,
    tree_hash: 'sha256',
    ...change,
  };
  const base = { proofHash: null, personTag: null, disclosures: [], attachments: [] };
  return { ...base, label, stream: POLICY_STREAM, type: LEDGER_POLICY_SET, eventId: fixtureUuid(label), record };
}

/** Returns the announcement of the ledger's next keys, sealed in this batch. */
export function announcementEvent(batch: number, keys: readonly string[]): FixtureEvent {
  const label = `announcement in ${batch}`;
  const eventId = fixtureUuid(label);
  const record = { v: 1, event_id: eventId, created_at: minute(batch * 10 + 5).toISOString(), keys: [...keys] };
  const base = { proofHash: null, personTag: null, disclosures: [], attachments: [] };
  return { ...base, label, stream: POLICY_STREAM, type: LEDGER_KEY_ANNOUNCED, eventId, record };
}

/** Returns a small world with every kind of content of a package, new at each call. */
export function fixtureWorld(): FixtureWorld {
  const config = configuration();
  const image = utf8('\u0089PNG pretended');
  const signature = { sha256: toHex(sha256(image)), media_type: 'image/png', size: image.length };
  const signed = [
    fixtureDisclosure('c3 1', 'visitor_id', 'visitor of c3'),
    fixtureDisclosure('c3 2', 'signer_name', 'Ayşe\u202e <b>Yılmaz</b>\u001b[31m'),
    fixtureDisclosure('c3 3', 'signature_image', signature),
  ];
  const activated = (language: 'en' | 'tr') => ({
    v: 1,
    event_id: fixtureUuid(`activated ${language}`),
    site_id: siteId,
    created_at: minute(2).toISOString(),
    document_id: fixtureUuid('document'),
    document_version_id: fixtureUuid(`version ${language}`),
  });
  return {
    siteId,
    otherSiteId,
    texts: [ENGLISH, TURKISH, utf8(canonicalJson(config))],
    batches: [
      [
        notice('config', SITE_CONFIG_PUBLISHED, config),
        notice('published version en', DOCUMENT_VERSION_PUBLISHED, version('version en', 'en', ENGLISH)),
        notice('published version tr', DOCUMENT_VERSION_PUBLISHED, version('version tr', 'tr', TURKISH)),
        notice('activated en', DOCUMENT_VERSION_ACTIVATED, activated('en')),
        notice('activated tr', DOCUMENT_VERSION_ACTIVATED, activated('tr')),
      ],
      [
        fixtureConsent('c0', 11),
        fixtureConsent('o0', 11, { site: otherSiteId }),
        fixtureConsent('c1', 12, { decision: 'partial' }),
        fixtureConsent('c2', 13, { decision: 'rejected', language: 'tr' }),
        fixtureConsent('o1', 13, { site: otherSiteId }),
        fixtureConsent('c3', 14, { disclosures: signed, attachments: [image] }),
        fixtureConsent('c4', 15),
      ],
      [fixtureConsent('o2', 21, { site: otherSiteId }), fixtureConsent('o3', 22, { site: otherSiteId })],
      [
        fixtureConsent('c5', 31),
        erasure('e0', 32, 'c1'),
        fixtureConsent('c6', 33, { decision: 'withdrawn' }),
        erasure('e1', 34, 'c4'),
      ],
      [fixtureConsent('c7', 41, { language: 'tr' })],
    ],
    erased: [
      { consent: 'c1', by: 'e0' },
      { consent: 'c4', by: 'e1' },
    ],
  };
}
