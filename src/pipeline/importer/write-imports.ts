import * as z from 'zod';
import { toHex } from '../../../schemas/crypto/encoding.js';
import {
  CONSENT_IMPORTED,
  IMPORT_CHANNEL,
  type ImportedConsent,
  type ImportOrigin,
} from '../../../schemas/events/consent-imported.js';
import { consentsStream } from '../../../schemas/events/streams.js';
import { canonicalJson } from '../../../schemas/json/canonical-json.js';
import { endOf } from '../../../schemas/law/periods.js';
import { pause } from '../../platform/background/waiting.js';
import { type Queryable, withTransaction } from '../../platform/database/pool.js';
import { putEvents } from '../../platform/database/shared-statements.js';
import { hmacSha256, type RandomPool } from '../../platform/keys/index.js';
import type { SiteContext } from '../../tenancy/directory/site-context.js';
import { personalFields } from '../admission/disclosures.js';
import type { SiteConfig } from '../admission/evaluate.js';
import { commonMembers, type PreparedRecord, prepareRecord } from '../admission/prepare-consent.js';
import type { StatedConsent } from './map-row.js';

/** 128 bits: two rows of one site practically never collide, and the index is half as large. */
const DIGEST_BYTES = 16;

export interface ImportOptions {
  readonly site: SiteContext;
  readonly config: SiteConfig;
  readonly origin: Omit<ImportOrigin, 'claimed_at'>;
  /** Unix milliseconds. */
  readonly now: number;
}

/**
 * Returns the digest that prevents a row from being imported twice. It covers the record's id in the former tool, its
 * time and its decision or, if the mapping names no id, the file and the row number. It is keyed because ids of records
 * are stored in cookies of visitors.
 */
export function rowDigest(
  site: Pick<SiteContext, 'siteKey'>,
  row: StatedConsent,
  origin: ImportOptions['origin'],
): Buffer {
  const { recordId, claimedAt, consent } = row;
  const { consent_type: type, decision } = consent.request;
  const identity =
    recordId === null
      ? ['row', origin.file_sha256, origin.row]
      : ['record', origin.tool, recordId, claimedAt, type, decision];
  return hmacSha256(site.siteKey, `import\0${canonicalJson(identity)}`).subarray(0, DIGEST_BYTES);
}

/** Creates the event of an imported consent, and the row of its key. */
export function prepareImport(row: StatedConsent, options: ImportOptions, random: RandomPool): PreparedRecord {
  const { site, now } = options;
  const { consent, recordId } = row;
  const known = recordId === null ? {} : { source_record_id: recordId };
  const fields = personalFields(Object.keys(consent.request), consent.source, known, []);
  return prepareRecord(
    {
      site,
      fields,
      attachments: [],
      now,
      textOf: (eventId, digests) => canonicalJson({ ...recordOf(row, options, eventId), disclosures: digests }),
    },
    random,
  );
}

function recordOf(
  { consent, version, claimedAt, validUntil: statedEnd }: StatedConsent,
  { site, config, origin, now }: ImportOptions,
  eventId: string,
): Omit<ImportedConsent, 'disclosures'> {
  const end = endOf(claimedAt, config.record.validity_days);
  const stated = statedEnd === null ? null : new Date(statedEnd).toISOString();
  return {
    v: 1,
    ...commonMembers({ request: consent.request, version, config, site, now }, eventId),
    valid_until: end === null || (stated !== null && stated < end) ? stated : end,
    channel: IMPORT_CHANNEL,
    api_key_id: null,
    identity_assurance: null,
    approval_token_id: null,
    vouched: [],
    import: { claimed_at: new Date(claimedAt).toISOString(), ...origin },
  };
}

/** A row that is ready to be written. */
export interface PreparedRow {
  /** Result of `rowDigest`. */
  readonly digest: Buffer;
  readonly record: PreparedRecord;
}

/** The site changed after it was read. Nothing was written. */
export class SiteChanged extends Error {
  override readonly name = 'SiteChanged';
}

const SiteRows = z.array(z.object({ config_revision: z.int() }));
const DigestRows = z.array(z.object({ digest: z.instanceof(Uint8Array) }));

/** Selects the digests of rows that were imported before. @returns the digests in hex */
export async function importedBefore(
  db: Queryable,
  siteId: string,
  digests: readonly Buffer[],
): Promise<ReadonlySet<string>> {
  const { rows } = await db.query('select digest from imported_rows where site_id = $1 and digest = any($2::bytea[])', [
    siteId,
    digests,
  ]);
  return new Set(DigestRows.parse(rows).map(({ digest }) => toHex(digest)));
}

/**
 * Writes rows with their events and keys in one transaction, each once. A concurrent import of the same rows waits.
 * @param db a handle in the role `consent_ledger_admin`
 * @returns how many rows were not imported before
 * @throws SiteChanged
 */
export async function writeImports(
  db: Queryable,
  { siteId, configRevision }: Pick<SiteContext, 'siteId' | 'configRevision'>,
  prepared: readonly PreparedRow[],
): Promise<number> {
  if (prepared.length === 0) return 0;
  return await withTransaction(db, async (db) => {
    const site = await db.query('select config_revision from sites where id = $1 for no key update', [siteId]);
    if (SiteRows.parse(site.rows)[0]?.config_revision !== configRevision)
      throw new SiteChanged(`the site ${siteId} was changed`);
    const { rows } = await db.query(
      `insert into imported_rows (site_id, digest) select $1, d from unnest($2::bytea[]) as d
       on conflict do nothing returning digest`,
      [siteId, prepared.map(({ digest }) => digest)],
    );
    const left = new Set(DigestRows.parse(rows).map(({ digest }) => toHex(digest)));
    // A row that occurs twice in the file is written once.
    const records = prepared.flatMap(({ digest, record }) => (left.delete(toHex(digest)) ? [record] : []));
    await putKeys(db, siteId, records);
    await putEvents(
      db,
      siteId,
      consentsStream(siteId),
      records.map(({ eventId: id, body: data }) => ({ id, type: CONSENT_IMPORTED, data })),
    );
    return records.length;
  });
}

async function putKeys(db: Queryable, siteId: string, records: readonly PreparedRecord[]): Promise<void> {
  await db.query(
    `insert into record_keys (event_id, site_id, seed, visitor_index, email_index, phone_index, id_number_index, seal)
     select k.event_id, $1, k.seed, k.visitor, k.email, k.phone, k.id_number, k.seal
       from unnest($2::uuid[], $3::bytea[], $4::bytea[], $5::bytea[], $6::bytea[], $7::bytea[], $8::bytea[])
              as k (event_id, seed, visitor, email, phone, id_number, seal)`,
    [
      siteId,
      records.map(({ eventId }) => eventId),
      records.map(({ seed }) => seed),
      ...(['visitor', 'email', 'phone', 'id_number'] as const).map((kind) =>
        records.map(({ indexes }) => indexes[kind]),
      ),
      records.map(({ keyRowSeal }) => keyRowSeal),
    ],
  );
}

/** Fraction of the outbox that an import leaves free for visitors. */
const SHARE = 0.5;
const LOOK_EVERY_MS = 250;
/** Longest time that an import waits for a worker that does not run, in milliseconds. */
const PATIENCE_MS = 600_000;

const Waiting = z.tuple([z.object({ waiting: z.int() })]);

/** No worker takes events from the outbox. What was written stays. */
export class OutboxFull extends Error {
  override readonly name = 'OutboxFull';
}

/**
 * Waits until half of the outbox is free. If it were full, the service would refuse consents.
 * @param db a handle in a role that reads the outbox
 * @param maxRows events at which the outbox is full
 * @throws OutboxFull
 */
export async function waitForRoom(db: Queryable, maxRows: number): Promise<void> {
  const limit = Math.max(1, Math.floor(maxRows * SHARE));
  for (const start = performance.now(); ; ) {
    const { rows } = await db.query({
      name: 'outbox_room',
      text: 'select coalesce(sum(w.count), 0) as waiting from (select count from event_log.waiting limit $1) w',
      values: [limit],
    });
    if (Waiting.parse(rows)[0].waiting < limit) return;
    if (performance.now() - start > PATIENCE_MS)
      throw new OutboxFull('The events that were written wait for the event log. Start the worker.');
    await pause(LOOK_EVERY_MS);
  }
}
