import * as z from 'zod';
import type { ExportedErasure } from '../../../schemas/api/export.js';
import {
  CONSENT_RECORDED,
  type ConsentRecord,
  ConsentRecordedBody,
  consentToken,
  testConsentToken,
} from '../../../schemas/events/consent-recorded.js';
import { parseBody, parseRecord } from '../../../schemas/events/sealed-event.js';
import { isAttachmentName } from '../../../schemas/evidence/disclosed-values.js';
import { decodeDisclosure } from '../../../schemas/evidence/disclosure.js';
import type { JsonObject, JsonValue } from '../../../schemas/json/json-value.js';
import type { Queryable } from '../../platform/database/pool.js';
import { findProofKey, isProofHashOf, type ProofKeys, recordKey, testProofKey } from '../../platform/keys/index.js';
import type { SiteContext } from '../../tenancy/directory/site-context.js';
import { chooseDisclosures } from '../package/personal-data.js';
import { cursorBehind, type SelectedErasure } from './selection.js';

export interface TestRecordOptions {
  /** A handle in the role `consent_ledger_api`. */
  readonly db: Queryable;
  readonly keyring: ProofKeys;
}

/** A consent that a test key recorded. */
export interface TestRecord {
  readonly record: ConsentRecord;
  readonly proofHash: string;
  /** Position among the test records of the site and their erasures. */
  readonly number: number;
  /** Null if the service does not know the document. */
  readonly documentSlug: string | null;
  /** Null in the same case. */
  readonly documentId: string | null;
  /** Whether the proof hash belongs to the record. */
  readonly isProved: boolean;
  /** The seed of the personal values, or null if they are erased. */
  readonly seed: Uint8Array | null;
  readonly body: ConsentRecordedBody;
}

const Rows = z.array(
  z.object({
    number: z.int(),
    body: z.instanceof(Uint8Array),
    proof_hash: z.string(),
    seed: z.instanceof(Uint8Array).nullable(),
  }),
);
const Documents = z.array(z.object({ version_id: z.string(), id: z.string(), slug: z.string() }));

/** A choice of test records: SQL after WHERE, with the table as `r`, and its values. */
interface Query {
  readonly where: string;
  readonly values: readonly unknown[];
}

async function read({ db, keyring }: TestRecordOptions, { where, values }: Query): Promise<readonly TestRecord[]> {
  const { rows } = await db.query(
    `select r.number, r.body, encode(r.proof_hash, 'hex') as proof_hash, r.seed from test_records r where ${where}`,
    [...values],
  );
  const read = Rows.parse(rows).map((row) => {
    const body = parseBody(ConsentRecordedBody, CONSENT_RECORDED, row.body);
    return { ...row, body, record: parseRecord(CONSENT_RECORDED, body.record) };
  });
  const versions = [...new Set(read.map(({ record }) => record.document_version_id))];
  const documents = await db.query(
    `select v.id as version_id, d.id, d.slug from document_versions v join documents d on d.id = v.document_id
      where v.id = any($1::uuid[])`,
    [versions],
  );
  const documentOf = new Map(Documents.parse(documents.rows).map(({ version_id: id, ...document }) => [id, document]));
  return Promise.all(
    read.map(async ({ record, body, number, seed, proof_hash: proofHash }) => {
      const key = await findProofKey(keyring, record.proof_key_id);
      return {
        record,
        body,
        number,
        seed,
        proofHash,
        documentSlug: documentOf.get(record.document_version_id)?.slug ?? null,
        documentId: documentOf.get(record.document_version_id)?.id ?? null,
        isProved: key !== null && isProofHashOf(body.record, proofHash, testProofKey(key.key)),
      };
    }),
  );
}

/** Test records that are read and verified at once, which takes milliseconds of the main thread. */
const PAGE = 20;

/**
 * Reads the test records of a site in pages, each with one statement. Other requests get their turn between pages.
 * @param order `asc` begins with the first record after `after`; `desc` begins with the newest
 * @param visitor blind index of a visitor id, or null for all
 */
export async function* testRecords(
  options: TestRecordOptions,
  siteId: string,
  { order, after = null, visitor }: { order: 'asc' | 'desc'; after?: number | null; visitor: Uint8Array | null },
): AsyncGenerator<readonly TestRecord[], void> {
  const isAfter = order === 'asc' ? '>' : '<';
  for (let last = after; ; ) {
    const page = await read(options, {
      where: `r.site_id = $1 and ($2::bigint is null or r.number ${isAfter} $2)
        and ($3::bytea is null or r.visitor_index = $3) order by r.number ${order} limit ${PAGE}`,
      values: [siteId, last, visitor],
    });
    yield page;
    last = page.at(-1)?.number ?? last;
    if (page.length < PAGE) return;
  }
}

/** Finds a test record of a tenant. @returns null if the tenant has no such test record */
export async function findTestRecord(
  options: TestRecordOptions,
  { tenantId }: Pick<SiteContext, 'tenantId'>,
  identifier: { readonly eventId: string } | { readonly proofHash: string },
): Promise<TestRecord | null> {
  const [condition, value] =
    'eventId' in identifier
      ? ['r.event_id = $2', identifier.eventId]
      : [`r.proof_hash = decode($2, 'hex')`, identifier.proofHash];
  const found = await read(options, {
    where: `${condition} and r.site_id in (select id from sites where tenant_id = $1) limit 1`,
    values: [tenantId, value],
  });
  return found[0] ?? null;
}

/**
 * Returns the personal values of a test record, or null if they are erased. A test record does not keep the content of
 * attachments.
 */
export function valuesOf(site: Pick<SiteContext, 'siteKey'>, { record, body, seed }: TestRecord): JsonObject | null {
  if (seed === null) return null;
  const values: Record<string, JsonValue> = {};
  for (const text of chooseDisclosures(recordKey(site.siteKey, seed, record.event_id), record, body, 'all')
    .disclosures) {
    const disclosure = decodeDisclosure(text);
    if (disclosure !== null && !isAttachmentName(disclosure.name)) values[disclosure.name] = disclosure.value;
  }
  return values;
}

const Last = z.array(z.object({ last: z.int() })).length(1);

/**
 * Returns the number of the last test record or erasure of a site, up to which everything is visible; 0 if there is
 * none.
 */
export async function lastTestNumber(db: Queryable, siteId: string): Promise<number> {
  const { rows } = await db.query(
    `select greatest((select max(number) from test_records where site_id = $1),
                     (select max(erased_number) from test_records where site_id = $1), 0) as last`,
    [siteId],
  );
  return Last.parse(rows)[0]?.last ?? 0;
}

const Erased = z.array(
  z.object({
    event_id: z.string(),
    erased_number: z.int(),
    erased_at: z.date(),
    reason: z.enum(['person', 'record']),
  }),
);

/** An erased test record, in the order of the erasures. */
export interface ErasedTestRecord {
  readonly eventId: string;
  readonly number: number;
  readonly at: Date;
  readonly reason: 'person' | 'record';
}

/** Lists the test records of a site that a test key erased, in the order of the erasures. */
export async function erasedTestRecords(
  db: Queryable,
  siteId: string,
  after: number,
  limit: number,
): Promise<readonly ErasedTestRecord[]> {
  const { rows } = await db.query(
    `select r.event_id, r.erased_number, r.erased_at,
            case when exists (select from test_erasures e
                               where e.site_id = $1 and e.event_id = r.event_id and e.erased_count > 0)
                 then 'record' else 'person' end as reason
       from test_records r where r.site_id = $1 and r.erased_number > $2 order by r.erased_number limit $3`,
    [siteId, after, limit],
  );
  return Erased.parse(rows).map(({ event_id: eventId, erased_number: number, erased_at: at, reason }) => ({
    eventId,
    number,
    at,
    reason,
  }));
}

/** An erasure in the form that lists and exports show. */
export function exportedErasure({ eventId, revision, announcedAt }: SelectedErasure): ExportedErasure {
  return {
    erased_record: { id: eventId, consent_token: consentToken(eventId) },
    announced_at: announcedAt.toISOString(),
    cursor: cursorBehind(revision),
  };
}

/** The same for an erased test record. */
export function exportedTestErasure({ eventId, number, at }: ErasedTestRecord): ExportedErasure {
  return {
    erased_record: { id: eventId, consent_token: testConsentToken(eventId) },
    announced_at: at.toISOString(),
    cursor: cursorBehind(number),
  };
}
