/*
 * Terms of the W3C Data Privacy Vocabulary (DPV) and of the vocabularies that it uses, as far as a
 * consent record of ISO/IEC TS 27560:2023 needs them. The mapping is that of the guide
 * https://w3id.org/dpv/guides/consent-27560.
 */

/** Prefixes of the vocabularies: the whole context of a consent record, so that nothing is fetched. */
export const CONTEXT = {
  dpv: 'https://w3id.org/dpv#',
  dct: 'http://purl.org/dc/terms/',
  rdf: 'http://www.w3.org/1999/02/22-rdf-syntax-ns#',
  schema: 'https://schema.org/',
  skos: 'http://www.w3.org/2004/02/skos/core#',
  xsd: 'http://www.w3.org/2001/XMLSchema#',
} as const;

/** Profiles of records and receipts (https://w3id.org/dpv/schema/dpv-27560). */
export const PROFILES = {
  record: 'https://w3id.org/dpv/schema/dpv-27560#record',
  receipt: 'https://w3id.org/dpv/schema/dpv-27560#receipt',
} as const;

/** Every class and instance that a consent record uses. */
export const CLASSES = [
  'dct:ProvenanceStatement',
  'dpv:Consent',
  'dpv:ConsentGiven',
  'dpv:ConsentNotice',
  'dpv:ConsentReceipt',
  'dpv:ConsentRecord',
  'dpv:ConsentRefused',
  'dpv:ConsentWithdrawn',
  'dpv:Contract',
  'dpv:DataController',
  'dpv:DataSubject',
  'dpv:DataSubjectRight',
  'dpv:EndlessDuration',
  'dpv:Jurisdiction',
  'dpv:Law',
  'dpv:LegalObligation',
  'dpv:LegitimateInterest',
  'dpv:NotAvailable',
  'dpv:PersonalData',
  'dpv:Process',
  'dpv:Purpose',
  'dpv:Recipient',
  'dpv:StorageDuration',
  'dpv:StorageLocation',
  'dpv:TemporalDuration',
  'dpv:ThirdParty',
  'dpv:UntilTimeDuration',
  'dpv:WithdrawConsent',
  'schema:PostalAddress',
  'xsd:dateTime',
] as const;

/** Every property that a consent record uses. */
export const PROPERTIES = [
  'dct:conformsTo',
  'dct:created',
  'dct:date',
  'dct:description',
  'dct:identifier',
  'dct:language',
  'dct:provenance',
  'dct:title',
  'dpv:hasAddress',
  'dpv:hasApplicability',
  'dpv:hasApplicableLaw',
  'dpv:hasConsentControl',
  'dpv:hasConsentStatus',
  'dpv:hasContact',
  'dpv:hasDataController',
  'dpv:hasDataSubject',
  'dpv:hasDuration',
  'dpv:hasIdentifier',
  'dpv:hasIndicationMethod',
  'dpv:hasJurisdiction',
  'dpv:hasLegalBasis',
  'dpv:hasName',
  'dpv:hasNotice',
  'dpv:hasPersonalData',
  'dpv:hasProcess',
  'dpv:hasPurpose',
  'dpv:hasRecipient',
  'dpv:hasRecordOfActivity',
  'dpv:hasRight',
  'dpv:hasStorageCondition',
  'dpv:isIndicatedAtTime',
  'dpv:isIndicatedBy',
  'rdf:value',
  'schema:sha256',
  'schema:version',
  'skos:broader',
] as const;

export type Term = (typeof CLASSES)[number];
export type Property = (typeof PROPERTIES)[number];

/** An object of JSON-LD with these terms only. */
export type Node = { readonly [P in Property]?: NodeValue } & {
  readonly '@id'?: string;
  readonly '@type'?: Term;
  readonly '@value'?: string;
  readonly '@language'?: string;
};
export type NodeValue = string | number | Node | readonly (string | Node)[];
