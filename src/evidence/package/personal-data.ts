import * as z from 'zod';
import type { SealedConsent } from '../../../schemas/events/consent-imported.js';
import type { ConsentRecordedBody } from '../../../schemas/events/consent-recorded.js';
import { disclosuresOf } from '../../../schemas/events/kept-disclosures.js';
import { isAttachmentName } from '../../../schemas/evidence/disclosed-values.js';
import { decodeDisclosure, disclosureDigest } from '../../../schemas/evidence/disclosure.js';
import { uuidArray } from '../../platform/database/parameters.js';
import type { Queryable } from '../../platform/database/pool.js';
import {
  decryptForRecord,
  type KeyRows,
  keyRowColumns,
  keyRowsOf,
  type RecordKeyring,
} from '../../platform/keys/index.js';
import { differ } from './errors.js';
import type { Disclose } from './filter.js';
import { at, jsonColumns, texts, textsOrNulls } from './ledger-reader.js';

/** The keys and erasures of some records. */
export interface RecordKeys {
  /** Keys of records, 32 bytes, by event id. A record that is missing here is withheld, erased or altered. */
  readonly keys: ReadonlyMap<string, Uint8Array>;
  /** Records whose key row was altered. The service does not open them. */
  readonly altered: ReadonlySet<string>;
  /** Records that have no key and are not erased: a restore of an older database lost their keys. */
  readonly lost: ReadonlySet<string>;
  /** Announced erased records, each with the id of its `SubjectErased`. */
  readonly erasedBy: ReadonlyMap<string, string>;
}

const KeyStates = z.object({
  event_ids: texts,
  seeds: texts,
  seals: texts,
  visitor_indexes: textsOrNulls,
  email_indexes: textsOrNulls,
  phone_indexes: textsOrNulls,
  id_number_indexes: textsOrNulls,
  erased_ids: texts,
  erasure_event_ids: texts,
  lost_ids: texts,
});

const KEY_COLUMNS = jsonColumns(
  {
    event_ids: 'k.event_id',
    seeds: `encode(k.seed, 'hex')`,
    seals: `encode(k.seal, 'hex')`,
    visitor_indexes: `encode(k.visitor_index, 'hex')`,
    email_indexes: `encode(k.email_index, 'hex')`,
    phone_indexes: `encode(k.phone_index, 'hex')`,
    id_number_indexes: `encode(k.id_number_index, 'hex')`,
  },
  'k.seed is not null and e.event_id is null',
);
const ERASURE_COLUMNS = jsonColumns(
  { erased_ids: 'w.event_id', erasure_event_ids: 'e.erasure_event_id' },
  'e.erasure_event_id is not null',
);

const LOST_COLUMNS = jsonColumns({ lost_ids: 'w.event_id' }, 'k.seed is null and e.event_id is null');

/**
 * Reads the keys of a page of records. An erased record has no key here, even if the key table has
 * one.
 * @param db one statement reads both tables, so that an erasure is visible entirely or not at all
 */
export async function readRecordKeys(
  db: Queryable,
  keyring: RecordKeyring,
  siteId: string,
  eventIds: readonly string[],
): Promise<RecordKeys> {
  // OFFSET makes the planner use the primary keys. Otherwise it would read a table of some ten thousand rows again for
  // each page.
  const { rows } = await db.query(
    `select ${KEY_COLUMNS}, ${ERASURE_COLUMNS}, ${LOST_COLUMNS}
       from unnest($2::uuid[]) as w (event_id)
       left join lateral (select * from record_keys k where k.event_id = w.event_id offset 0) k on k.site_id = $1
       left join lateral (select * from erased_records e where e.event_id = w.event_id offset 0) e on true`,
    [siteId, uuidArray(eventIds)],
  );
  const [states] = z.tuple([KeyStates]).parse(rows);
  const keys = await keyring.openKeyColumns(siteId, {
    eventIds: states.event_ids,
    seeds: states.seeds,
    seals: states.seals,
    indexes: {
      visitor: states.visitor_indexes,
      email: states.email_indexes,
      phone: states.phone_indexes,
      id_number: states.id_number_indexes,
    },
  });
  return {
    keys,
    altered: new Set(keys.size === states.event_ids.length ? [] : states.event_ids.filter((id) => !keys.has(id))),
    lost: new Set(states.lost_ids),
    erasedBy: new Map(states.erased_ids.map((id, i) => [id, at(states.erasure_event_ids, i)])),
  };
}

/**
 * Selects the records that belong to the person with this blind index. A record whose key row was
 * altered belongs to none.
 * @param column the indexed column of `record_keys`
 */
export async function recordsOfPerson(
  db: Queryable,
  keyRows: KeyRows,
  siteId: string,
  [column, index]: readonly [column: string, index: Uint8Array],
  eventIds: readonly string[],
): Promise<ReadonlySet<string>> {
  // OFFSET makes the planner use the primary key. The index of the person would lead through all of that person's rows,
  // and there are no statistics that tell the planner how many there are.
  const { rows } = await db.query(
    `select ${keyRowColumns('k')}
       from unnest($1::uuid[]) w (event_id)
       cross join lateral (select * from record_keys k where k.event_id = w.event_id offset 0) k
      where k.site_id = $2 and k.${column} = $3`,
    [eventIds, siteId, index],
  );
  return new Set((await keyRows.openKeyRows(keyRowsOf(rows))).map(({ eventId }) => eventId));
}

/** The selected disclosures of a record. */
export interface ChosenDisclosures {
  readonly disclosures: string[];
  /** Whether an attachment is among them. */
  readonly hasAttachments: boolean;
}

/**
 * Decrypts a record's disclosures and selects the requested ones.
 * @param key key of the record, 32 bytes
 * @throws KeyError `decrypt_failed`; ExportFailed `log-and-ledger-differ` if the digest of a disclosure differs from
 *   the one in the record
 */
export function chooseDisclosures(
  key: Uint8Array,
  record: SealedConsent,
  body: ConsentRecordedBody,
  disclose: Disclose,
): ChosenDisclosures {
  if (disclose === 'none' || body.disclosures === null) return { disclosures: [], hasAttachments: false };
  const chosen: string[] = [];
  let hasAttachments = false;
  const kept = decryptForRecord(key, record.event_id, 'disclosures', Buffer.from(body.disclosures, 'base64'));
  const disclosures =
    disclosuresOf(kept.toString('utf8'), record.disclosures) ??
    differ(`record ${record.event_id} does not have as many values as it names`);
  for (const { name, text } of disclosures) {
    if (disclosureDigest(text) !== record.disclosures[name]) {
      differ(`a value kept with record ${record.event_id} is not one that it commits to`);
    }
    if (disclose !== 'all' && !disclose.includes(name)) continue;
    chosen.push(text);
    hasAttachments ||= isAttachmentName(name);
  }
  return { disclosures: chosen, hasAttachments: hasAttachments && body.attachments.length > 0 };
}

/** The SHA-256 digests, in hex, of the attachments that a record's disclosures name. */
export function attachmentDigests(disclosures: readonly string[]): readonly string[] {
  return disclosures.flatMap((text) => {
    const disclosure = decodeDisclosure(text);
    if (disclosure === null || !isAttachmentName(disclosure.name)) return [];
    const reference = AttachmentDigest.safeParse(disclosure.value);
    return reference.success ? [reference.data.sha256] : [];
  });
}

const AttachmentDigest = z.object({ sha256: z.string() });
