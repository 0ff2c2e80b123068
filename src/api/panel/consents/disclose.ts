import type { z } from 'zod';
import { ApiError } from '../../../../schemas/api/error-codes.js';
import { PERSONAL_FIELDS } from '../../../../schemas/api/export.js';
import { DiscloseConsentResponse } from '../../../../schemas/api/panel/consents.js';
import type { ConsentRow } from '../../../evidence/records/consent-row.js';
import { exportRecords } from '../../../evidence/records/read-records.js';
import { EventLogUnavailable } from '../../../pipeline/event-log/errors.js';
import type { PanelDeps } from '../deps.js';

const RETRY_AFTER_SECONDS = 2;

/**
 * Decrypts personal values of a record, as the event log has them; each is compared with the digest that the record commits to.
 * @param fields names, or all
 * @throws ApiError SERVICE_UNAVAILABLE if the event log does not answer; ExportFailed, NotGenuine where it does not hold the record
 */
export async function discloseConsent(
  { apiPool: pool, eventLog: log, keyring }: PanelDeps,
  row: ConsentRow,
  fields: 'all' | readonly string[],
): Promise<z.input<typeof DiscloseConsentResponse>['data']> {
  const site = { siteId: row.site_id, siteKey: await keyring.siteKey(row.site_id) };
  const selected = { eventId: row.event_id, revision: row.revision, documentSlug: row.slug };
  const names = fields === 'all' ? PERSONAL_FIELDS : fields;
  try {
    for await (const record of exportRecords({ pool, log, proofKeys: keyring }, site, [selected])) {
      const shown = DiscloseConsentResponse.shape.data.parse({ ...record, fields: {} });
      return {
        ...shown,
        fields: Object.fromEntries(names.map((name) => [name, record[name] ?? null])),
        attachments: shown.attachments.filter(({ field }) => names.includes(field)),
      };
    }
  } catch (error) {
    if (!(error instanceof EventLogUnavailable)) throw error;
    const told = new ApiError('SERVICE_UNAVAILABLE', undefined, { retryAfterSeconds: RETRY_AFTER_SECONDS });
    told.cause = error;
    throw told;
  }
  throw new Error(`record ${row.event_id} was not read from the event log`);
}
