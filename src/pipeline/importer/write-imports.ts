import * as z from 'zod';
import { toHex } from '../../../schemas/crypto/encoding.js';
import { CONSENT_IMPORTED } from '../../../schemas/events/consent-imported.js';
import { consentsStream } from '../../../schemas/events/streams.js';
import { type Queryable, withTransaction } from '../../platform/database/pool.js';
import { putEvents } from '../../platform/database/shared-statements.js';
import type { SiteContext } from '../../tenancy/directory/site-context.js';
import type { PreparedRecord } from '../admission/prepare-consent.js';

/** A row that is ready to be written. */
export interface PreparedRow {
  /** Result of `rowDigest`. */
  readonly digest: Buffer;
  readonly record: PreparedRecord;
}

/** The site was changed after it was read. Nothing was written. */
export class SiteChanged extends Error {
  override readonly name = 'SiteChanged';
}

const SiteRows = z.array(z.object({ config_revision: z.int() }));
const DigestRows = z.array(z.object({ digest: z.instanceof(Uint8Array) }));

/** Selects the digests of rows that were imported before. @returns in hex */
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
 * Writes rows with their events and keys in one transaction, each of them once. A concurrent import of the same rows
 * waits for it.
 * @param db in the role `consent_ledger_admin`
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
    // A row that the file has twice is written once.
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
