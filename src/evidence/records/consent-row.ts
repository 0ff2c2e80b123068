import * as z from 'zod';
import { PERSONAL_FIELDS } from '../../../schemas/api/export.js';
import { DiscloseConsentResponse } from '../../../schemas/api/panel/consents.js';
import { joinFirstStamp } from '../../pipeline/ledger/read-checkpoints.js';
import type { Queryable } from '../../platform/database/pool.js';
import { consentsStreamSql } from '../../platform/database/shared-statements.js';
import { type Keyring, NotGenuine } from '../../platform/keys/index.js';
import { isDevelopmentStamp } from '../../timestamping/authorities.js';
import { CONSENT_READ_MODEL_COLUMNS, ConsentReadModelRow } from '../verification/stored-record.js';
import { exportRecords, type RecordOptions } from './read-records.js';

/** A row of the read model, with the display data of the panel. No column is verified. */
export const ConsentRow = ConsentReadModelRow.extend({
  has_key: z.boolean(),
  slug: z.string().nullable(),
  batch: z.int().nullable(),
  index: z.int().nullable(),
  sealed_at: z.date().nullable(),
  checkpoint_size: z.int().nullable(),
  gen_time: z.date().nullable(),
  authorities: z.array(z.string()).nullable(),
  tokens: z.int().nullable(),
  is_development: z.boolean(),
});
export type ConsentRow = z.infer<typeof ConsentRow>;

/** Columns of `read_model.consents c` with `CONSENT_JOINS`. */
export const CONSENT_COLUMNS = `${CONSENT_READ_MODEL_COLUMNS},
  exists (select from record_keys k where k.event_id = c.event_id and k.site_id = c.site_id) as has_key,
  d.slug, l.batch, l.index, b.sealed_at, p.size as checkpoint_size, p.gen_time, p.authorities, p.tokens,
  ${isDevelopmentStamp('p')} as is_development`;

export const CONSENT_JOINS = `
  left join document_versions v on v.id = c.document_version_id and v.site_id = c.site_id
  left join documents d on d.id = v.document_id
  left join leaves l on l.stream = ${consentsStreamSql('c.site_id')} and l.revision = c.revision
  left join batches b on b.number = l.batch
  ${joinFirstStamp('l.batch', 'size, gen_time, authorities, tokens, certificates', 'p')}`;

/**
 * Reads one record of a site.
 * @param db a handle in the role `consent_ledger_api`
 * @returns null if the site has no such record, or the read model does not show it yet
 */
export async function findConsent(db: Queryable, siteId: string, eventId: string): Promise<ConsentRow | null> {
  const { rows } = await db.query(
    `select ${CONSENT_COLUMNS} from read_model.consents c ${CONSENT_JOINS} where c.event_id = $1 and c.site_id = $2`,
    [eventId, siteId],
  );
  return z.array(ConsentRow).max(1).parse(rows)[0] ?? null;
}

export interface DiscloseOptions extends Pick<RecordOptions, 'db' | 'eventLog'> {
  readonly keyring: Keyring;
}

/**
 * Decrypts personal values of a record from the event log, and compares each with the digest that the record commits
 * to.
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
