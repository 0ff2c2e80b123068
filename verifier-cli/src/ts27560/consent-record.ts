import { lateMembersOf, originOf, type SealedConsent, servicesOf } from '../../../schemas/events/consent-imported.js';
import type { ConsentCategory, SiteConfigPublishedRecord } from '../../../schemas/events/site-config.js';
import { isErasureStanding } from '../show/certificate.js';
import type { ShownRecord } from '../show/shown-record.js';
import { CONTEXT, type Node, PROFILES, type Property, type Term } from './terms.js';

/** Verified evidence of a consent, from which its consent record is made. */
export interface VerifiedConsent {
  readonly shown: ShownRecord;
  readonly record: SealedConsent;
  readonly configuration: SiteConfigPublishedRecord;
}

/** A consent record or a consent receipt in JSON-LD. */
export type ConsentDocument = Node & { readonly '@context': typeof CONTEXT };

/**
 * Returns the consent record (ISO/IEC TS 27560:2023) of verified evidence in the Data Privacy Vocabulary, inside a
 * consent receipt if the evidence is a receipt. Mandatory fields come from the evidence; those that it lacks are
 * `dpv:NotAvailable` (docs/conformance.md).
 */
export function consentDocument(verified: VerifiedConsent): ConsentDocument {
  const { shown } = verified;
  const node = recordNode(verified);
  if (shown.file.kind === 'package') return { '@context': CONTEXT, ...node };
  const { consent_token: token, file } = shown;
  return {
    '@context': CONTEXT,
    '@type': 'dpv:ConsentReceipt',
    'dct:conformsTo': { '@id': PROFILES.receipt },
    // Each consent token has exactly one receipt, which is served under it.
    'dct:identifier': token ?? shown.event_id,
    ...(file.exported_at === null ? {} : { 'dct:created': moment(file.exported_at) }),
    'dpv:hasRecordOfActivity': node,
  };
}

const subjectId = ({ event_id: id }: SealedConsent): string => `urn:uuid:${id}#principal`;

function recordNode(verified: VerifiedConsent): Node {
  const { shown, record, configuration } = verified;
  const { controller, domain, site_id: site } = configuration;
  return {
    '@id': `urn:uuid:${record.event_id}`,
    '@type': 'dpv:ConsentRecord',
    'dct:conformsTo': { '@id': PROFILES.record },
    'dct:identifier': record.event_id,
    'dct:created': moment(record.created_at),
    'dct:language': record.language,
    'dct:provenance': provenance(shown, record),
    'dpv:hasDataSubject': dataSubject(verified),
    'dpv:hasDataController': {
      '@id': `urn:uuid:${site}#controller`,
      '@type': 'dpv:DataController',
      'dpv:hasIdentifier': domain,
      'dpv:hasName': controller.legal_name,
      'dpv:hasContact': controller.contact,
      'dpv:hasAddress': unavailable('schema:PostalAddress', 'the configuration has one text for the contact'),
    },
    'dpv:hasNotice': notices(verified),
    'dpv:hasProcess': processes(verified),
    'dpv:hasLegalBasis': unavailable('dpv:Consent', 'the evidence does not state how the consent was expressed'),
    'dpv:hasConsentStatus': events(verified),
    'dpv:hasConsentControl': {
      '@type': 'dpv:WithdrawConsent',
      'dct:description': byLanguage(configuration.withdrawal),
    },
    'dpv:hasJurisdiction': unavailable('dpv:Jurisdiction', 'the record names a legal framework, and no place'),
    ...lawOf(record),
    'dpv:hasRight': unavailable('dpv:DataSubjectRight', 'the rights are in the text of the notice'),
  };
}

/** A field that the evidence does not have. */
function unavailable(type: Term, reason: string): Node {
  return { '@type': type, 'dpv:hasApplicability': { '@id': 'dpv:NotAvailable' }, 'dct:description': reason };
}

function moment(time: string): Node {
  return { '@type': 'xsd:dateTime', '@value': time };
}

function byLanguage(texts: Readonly<Record<string, string>>): readonly Node[] {
  return Object.entries(texts).map(([language, text]) => ({ '@language': language, '@value': text }));
}

function provenance(shown: ShownRecord, record: SealedConsent): Node {
  const { verdict, package_verdict: whole, proved, as_of: asOf, development } = shown;
  const origin = originOf(record);
  const facts = [
    `consent-verify evaluated the evidence of this record as ${verdict.toUpperCase()}, and its file as ${whole.toUpperCase()}.`,
    proved.after === null ? null : `It was sealed after ${proved.after.time}.`,
    proved.before === null ? 'No time of its sealing is proved.' : `It was sealed before ${proved.before.time}.`,
    asOf === null ? null : `The file shows the ledger as of ${asOf.time}.`,
    development ? 'A development authority stamped the ledger: this is not evidence.' : null,
    origin === null
      ? 'Times and values of the record are claims of the service.'
      : `It was imported: ${origin.tool} stated it, with the time ${origin.claimed_at}, and the service recorded it at ${record.created_at}.`,
  ];
  return {
    '@type': 'dct:ProvenanceStatement',
    'dct:title': `verdict: ${verdict}`,
    'dct:description': facts.filter((fact) => fact !== null).join(' '),
  };
}

/**
 * Returns the PII principal: identified by `visitor_id`, or by the record's person tag, which is a pseudonym of this
 * record only.
 */
function dataSubject({ shown, record }: VerifiedConsent): Node {
  const visitor = shown.disclosed.find(({ name }) => name === 'visitor_id')?.value;
  const subject = { '@id': subjectId(record), '@type': 'dpv:DataSubject' as const };
  if (typeof visitor === 'string') return { ...subject, 'dct:identifier': visitor };
  if (record.disclosures.visitor_id === undefined || shown.person_tag === null)
    return { ...subject, ...unavailable('dpv:DataSubject', 'the record has no identifier of the person') };
  const state = isErasureStanding(shown) ? 'erased' : 'withheld';
  return {
    ...subject,
    'dct:identifier': shown.person_tag,
    'dct:description': `person tag of this record: visitor_id is ${state}`,
  };
}

function notices({ shown: { text }, record, configuration }: VerifiedConsent): readonly Node[] {
  return [
    {
      '@id': `urn:uuid:${record.document_version_id}`,
      '@type': 'dpv:ConsentNotice',
      'dct:identifier': record.document_version_id,
      'dct:language': record.language,
      'schema:sha256': record.document_hash,
      ...(text?.title == null ? {} : { 'dct:title': text.title }),
      ...(text?.number == null ? {} : { 'schema:version': text.number }),
      ...(text?.published_at == null ? {} : { 'dct:date': moment(text.published_at) }),
    },
    {
      '@id': `urn:uuid:${configuration.event_id}`,
      '@type': 'dpv:ConsentNotice',
      'dct:identifier': configuration.event_id,
      'dct:language': configuration.languages,
      'dct:description': 'configuration of the site, with the texts of its banner',
      'dct:date': moment(configuration.created_at),
      'schema:version': configuration.number,
      'schema:sha256': record.site_config_hash,
    },
  ];
}

const LEGAL_BASES: Readonly<Record<ConsentCategory['lawful_basis'], Term>> = {
  consent: 'dpv:Consent',
  contract: 'dpv:Contract',
  legal_obligation: 'dpv:LegalObligation',
  legitimate_interest: 'dpv:LegitimateInterest',
};

/** One process for each category that the record decides on. */
function processes({ record, configuration }: VerifiedConsent): readonly Node[] {
  const decided = configuration.categories.filter(({ key }) => record.categories?.[key] !== undefined);
  if (decided.length > 0) return decided.map((category) => processOf(category, configuration));
  const reason = 'the record names no category: see the text of the notice';
  return [
    {
      '@type': 'dpv:Process',
      'dct:identifier': record.consent_type,
      'dpv:hasPurpose': unavailable('dpv:Purpose', reason),
      'dpv:hasPersonalData': unavailable('dpv:PersonalData', reason),
      'dpv:hasStorageCondition': [
        unavailable('dpv:StorageDuration', reason),
        unavailable('dpv:StorageLocation', reason),
      ],
      'dpv:hasRecipient': unavailable('dpv:Recipient', reason),
    },
  ];
}

function processOf(category: ConsentCategory, { cookies }: SiteConfigPublishedRecord): Node {
  const { key, title, purpose, personal_data: data, recipients, services = [], retention_days: days } = category;
  const providers = cookies.filter((cookie) => cookie.category === key && cookie.party === 'third');
  const names = [
    ...new Set([
      ...recipients,
      ...services.map(({ recipient }) => recipient),
      ...providers.map(({ provider }) => provider),
    ]),
  ];
  const listsNone = 'the configuration lists none';
  const duration: Node = { '@type': 'dpv:TemporalDuration', 'rdf:value': `P${days}D` };
  return {
    '@type': 'dpv:Process',
    'dct:identifier': key,
    'dct:title': byLanguage(title),
    'dpv:hasPurpose': { '@type': 'dpv:Purpose', 'dct:description': byLanguage(purpose) },
    'dpv:hasLegalBasis': { '@id': LEGAL_BASES[category.lawful_basis] },
    'dpv:hasPersonalData':
      data.length === 0
        ? unavailable('dpv:PersonalData', listsNone)
        : data.map((name) => ({
            '@type': 'dpv:PersonalData',
            'skos:broader': { '@id': 'dpv:PersonalData' },
            'dct:title': name,
          })),
    'dpv:hasStorageCondition': [
      days === null
        ? unavailable('dpv:StorageDuration', 'the configuration states no retention period')
        : { '@type': 'dpv:StorageDuration', 'dpv:hasDuration': duration },
      unavailable('dpv:StorageLocation', 'the configuration states no place of storage'),
    ],
    'dpv:hasRecipient':
      names.length === 0
        ? unavailable('dpv:Recipient', listsNone)
        : names.map((name) => ({ '@type': 'dpv:ThirdParty', 'dpv:hasName': name })),
  };
}

/** The consent event: one status, or two if the person accepted a part. */
function events({ shown, record }: VerifiedConsent): readonly Node[] {
  const { decision, categories, valid_until: until, channel } = record;
  const source = shown.disclosed.find(({ name }) => name === 'source')?.value;
  const isOfAccount = lateMembersOf(record).scope === 'account';
  const event = (type: Term, isAccepted: boolean | null): Node => {
    const listed = (name: string, answers: Readonly<Record<string, boolean>> | null): string => {
      const keys = Object.entries(answers ?? {}).flatMap(([key, is]) =>
        isAccepted === null || is === isAccepted ? key : [],
      );
      return keys.length === 0 ? '' : `${name}: ${keys.join(', ')}`;
    };
    return {
      '@type': type,
      'dct:description': [
        `decision: ${decision}`,
        listed('categories', categories),
        listed('services', servicesOf(record)),
        isOfAccount ? 'scope: all devices of the account of the PII principal, for whom the backend vouches' : '',
      ]
        .filter((part) => part !== '')
        .join('; '),
      'dpv:isIndicatedAtTime': moment(originOf(record)?.claimed_at ?? record.created_at),
      'dpv:isIndicatedBy': { '@id': subjectId(record) },
      'dpv:hasIndicationMethod': typeof source === 'string' ? `${channel}, ${source}` : channel,
      // Consents under a configuration without a validity do not expire (document.in-force).
      'dpv:hasDuration':
        until === null
          ? { '@type': 'dpv:EndlessDuration' }
          : { '@type': 'dpv:UntilTimeDuration', 'rdf:value': moment(until) },
    };
  };
  switch (decision) {
    case 'accepted':
      return [event('dpv:ConsentGiven', null)];
    case 'rejected':
      return [event('dpv:ConsentRefused', null)];
    case 'withdrawn':
      return [event('dpv:ConsentWithdrawn', null)];
    case 'partial':
      return [event('dpv:ConsentGiven', true), event('dpv:ConsentRefused', false)];
  }
}

function lawOf({ compliance_framework: framework }: SealedConsent): { readonly [P in Property]?: Node } {
  if (framework === null || framework === 'none') return {};
  return { 'dpv:hasApplicableLaw': { '@type': 'dpv:Law', 'dct:identifier': framework } };
}
