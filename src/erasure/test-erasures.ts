import { v7 as uuidV7 } from 'uuid';
import * as z from 'zod';
import { type Queryable, withTransaction } from '../platform/database/pool.js';
import { lockTestRecords } from '../platform/database/shared-statements.js';
import { timeOfEventId } from '../platform/event-ids.js';
import type { Keyring } from '../platform/keys/index.js';
import type { ErasureJournal } from './journal.js';
import { type ErasureOrder, type ErasureTarget, reasonOf, requestDigest, targetOf } from './requests.js';
import { INDEX_COLUMNS } from './select-subjects.js';

const Ids = z.array(z.object({ id: z.string() }));
const idsOf = (rows: readonly unknown[]): readonly string[] => Ids.parse(rows).map(({ id }) => id);

/**
 * Erases test records for a test key: immediately, and without a trace outside the tables of test keys. The public part
 * of an erased test record is kept as long as the record would have been.
 * @param db a handle in the role `consent_ledger_api`
 * @returns the id of the erasure; if the order is repeated, that of the first one
 */
export async function eraseForTestKey(
  db: Queryable,
  keyring: Pick<Keyring, 'siteKey'>,
  { siteId, by, channel, idempotencyKey = '' }: ErasureOrder,
): Promise<string> {
  const siteKey = await keyring.siteKey(siteId);
  const target = targetOf(siteKey, by);
  const digest = requestDigest(siteKey, channel, idempotencyKey, target);
  return withTransaction(db, async (db) => {
    await lockTestRecords(db, siteId);
    const earlier = await db.query('select id from test_erasures where site_id = $1 and request_digest = $2', [
      siteId,
      digest,
    ]);
    const [known] = idsOf(earlier.rows);
    if (known !== undefined) return known;
    const [record, token, value] = conditionsOf(target);
    const erased = await db.query(
      `update test_records
          set seed = null, visitor_index = null, email_index = null, phone_index = null, id_number_index = null,
              body_digest = null, erased_number = nextval('test_records_number_seq'), erased_at = now()
        where site_id = $1 and seed is not null and ${record} returning event_id as id`,
      [siteId, value],
    );
    const eventIds = idsOf(erased.rows);
    const tokens = await db.query(
      `delete from test_approval_tokens where site_id = $1 and (${token} or consumed_by = any($3::uuid[]))`,
      [siteId, value, eventIds],
    );
    const id = uuidV7();
    await db.query(
      `insert into test_erasures (id, site_id, request_digest, reason, index_kind, event_id, erased_count, deleted_token_count)
       values ($1, $2, $3, $4, $5, $6, $7, $8)`,
      [
        ...[id, siteId, digest, reasonOf(target)],
        target.kind === 'person' ? target.index : null,
        target.kind === 'record' ? target.eventId : null,
        ...[eventIds.length, tokens.rowCount ?? 0],
      ],
    );
    return id;
  });
}

/**
 * Deletes the test records that an erasure of live records also concerns: those of the same person or age. They are not
 * records, so they are not counted.
 * @param db a handle in a transaction that holds the lock on the site's row, in the role `consent_ledger_worker`
 * @throws JournalUnavailable; database errors
 */
export async function eraseTestRecords(
  db: Queryable,
  journal: ErasureJournal,
  siteId: string,
  target: ErasureTarget,
): Promise<void> {
  await lockTestRecords(db, siteId);
  const [record, token, value] = conditionsOf(target);
  const records = await db.query(`select event_id as id from test_records where site_id = $1 and ${record}`, [
    siteId,
    value,
  ]);
  const eventIds = idsOf(records.rows);
  const tokens = await db.query(
    `select id from test_approval_tokens where site_id = $1 and (${token} or consumed_by = any($3::uuid[]))`,
    [siteId, value, eventIds],
  );
  const tokenIds = idsOf(tokens.rows);
  if (eventIds.length + tokenIds.length === 0) return;
  // A separate line, so that a program that does not know test records skips only this line.
  await journal.append({ v: 1, erased: null, approval_tokens: [...tokenIds], test_records: [...eventIds] });
  await destroyTestRecords(db, eventIds, tokenIds);
}

/** Deletes test records and test approval tokens by their ids. */
export async function destroyTestRecords(
  db: Queryable,
  eventIds: readonly string[],
  tokens: readonly string[],
): Promise<void> {
  await db.query('delete from test_records where event_id = any($1::uuid[])', [eventIds]);
  await db.query('delete from test_approval_tokens where id = any($1)', [tokens]);
}

/** The conditions on test records and on test approval tokens, with the value of $2 in both. */
function conditionsOf(target: ErasureTarget): readonly [record: string, token: string, value: unknown] {
  switch (target.kind) {
    case 'person': {
      const condition = `${INDEX_COLUMNS[target.index]} = $2`;
      return [condition, condition, target.value];
    }
    case 'record':
      return ['event_id = $2', 'consumed_by = $2', target.eventId];
    case 'retention':
      return ['created_at < $2', 'created_at < $2', timeOfEventId(target.belowEventId)];
  }
}
