import type { ConsentRecord, ConsentRecordedBody } from '../../../schemas/events/consent-recorded.js';

const quote = (text: string): string => JSON.stringify(text);
const quoteOrNull = (text: string | null): string => (text === null ? 'null' : quote(text));

/**
 * Returns the JCS text (RFC 8785) of a consent record, equal to `canonicalJson(record)`. It is
 * written from the closed list of members, which takes a tenth of the time. The members are in
 * sorted order. Fields whose format excludes escaped characters are quoted unchanged.
 */
export function consentRecordText(r: ConsentRecord): string {
  return (
    `{"_sd":[${r._sd.map((digest) => `"${digest}"`).join(',')}],"api_key_id":"${r.api_key_id}",` +
    `"categories":${categoriesText(r.categories)},"channel":"${r.channel}",` +
    `"compliance_framework":${quoteOrNull(r.compliance_framework)},"consent_type":${quote(r.consent_type)},` +
    `"created_at":"${r.created_at}","decision":"${r.decision}","document_hash":"${r.document_hash}",` +
    `"document_version_id":"${r.document_version_id}","event_id":"${r.event_id}","hash_version":${r.hash_version},` +
    `"identity_assurance":${identityText(r.identity_assurance)},"language":${quote(r.language)},` +
    `"proof_key_id":${quote(r.proof_key_id)},"site_config_hash":"${r.site_config_hash}","site_id":"${r.site_id}",` +
    `"v":${r.v},"valid_until":${quoteOrNull(r.valid_until)}}`
  );
}

function categoriesText(categories: ConsentRecord['categories']): string {
  if (categories === null) return 'null';
  const keys = Object.keys(categories).sort();
  return `{${keys.map((key) => `${quote(key)}:${categories[key]}`).join(',')}}`;
}

function identityText(identity: ConsentRecord['identity_assurance']): string {
  if (identity === null) return 'null';
  const vouched = identity.vouched.map(quote).join(',');
  return `{"approval_token_id":${quote(identity.approval_token_id)},"method":"${identity.method}","vouched":[${vouched}]}`;
}

/**
 * Returns the JSON of an event body, equal to `JSON.stringify`, at a third of its cost for long
 * strings.
 */
export function bodyText({ record, proof_hash, disclosures, attachments }: ConsentRecordedBody): string {
  const disclosed = disclosures === null ? 'null' : `"${disclosures}"`;
  const ids = attachments.map((id) => `"${id}"`).join(',');
  return `{"record":${quote(record)},"proof_hash":"${proof_hash}","disclosures":${disclosed},"attachments":[${ids}]}`;
}
