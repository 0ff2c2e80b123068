import type * as z from 'zod';
import { PERSONAL_FIELDS } from '../../../schemas/api/export.js';
import { DiscloseConsentResponse } from '../../../schemas/api/panel/consents.js';
import { type Keyring, NotGenuine } from '../../platform/keys/index.js';
import type { ConsentRow } from './consent-row.js';
import { exportRecords, type RecordOptions } from './read-records.js';

export interface DiscloseOptions extends Pick<RecordOptions, 'db' | 'eventLog'> {
  readonly keyring: Keyring;
}

/**
 * Decrypts personal values of a record from the event log, and compares each with the digest to
 * which the record commits.
 * @param fields names of the fields, or all
 * @throws EventLogUnavailable; ExportFailed, NotGenuine if the event log does not contain the
 *   record, or its key row was altered
 */
export async function discloseConsent(
  { db, eventLog, keyring }: DiscloseOptions,
  row: ConsentRow,
  fields: 'all' | readonly string[],
): Promise<z.input<typeof DiscloseConsentResponse>['data']> {
  const site = { siteId: row.site_id };
  const selected = { eventId: row.event_id, revision: row.revision, documentSlug: row.slug };
  const names = fields === 'all' ? PERSONAL_FIELDS : fields;
  const [record] = await exportRecords({ db, eventLog, keyring }, site, [selected]);
  if (record === undefined) throw new NotGenuine(`the key row of record ${row.event_id} was altered`);
  const { content } = record;
  const shown = DiscloseConsentResponse.shape.data.parse({ ...content, fields: {} });
  return {
    ...shown,
    fields: Object.fromEntries(names.map((name) => [name, content[name] ?? null])),
    attachments: shown.attachments.filter(({ field }) => names.includes(field)),
  };
}
