import * as z from 'zod';
import { checkKeyRows, type KeyRow, keyRowColumns, keyRowsOf } from '../platform/keys/index.js';
import { auditPersons } from './persons.js';
import { estimatedRows, openKnownRows, PAGE, pagesOf, type Section } from './section.js';

/** Checks the keys of the service, those of records, and the ids of persons. */
export async function auditKeys(section: Section): Promise<void> {
  const keys = await auditKeyring(section);
  const records = await auditRecordKeys(section, keys);
  await auditPersons(section, records);
}

async function auditKeyring({ db, master, findings, step }: Section): Promise<number> {
  let done = 0;
  for (let after: string | null = null; ; ) {
    const { checked, altered } = await checkKeyRows(db, master, after);
    for (const key of altered)
      findings.add({
        kind: 'row-altered',
        table: 'keyring',
        key,
        detail: 'the key does not unwrap for its row, or the seal does not match',
      });
    const last = checked.at(-1);
    done += checked.length;
    await step(done, null);
    if (last === undefined) return done;
    after = last;
  }
}

const NewestRows = z.tuple([z.object({ newest: z.string().nullable() })]);
const IdRows = z.array(z.object({ id: z.string() }));

/** Each row must open, and belong to a record that is on its way to the log or in it. */
async function auditRecordKeys({ db, keyring, findings, step }: Section, before: number): Promise<number> {
  let done = before;
  const total = await estimatedRows(db, 'record_keys');
  // Records that are admitted meanwhile are in flight. Waiting for them would never end on a busy service.
  const [{ newest }] = NewestRows.parse(
    (await db.query('select (select event_id::text from record_keys order by event_id desc limit 1) as newest')).rows,
  );
  const read = async (after: string | null) => {
    const { rows } = await db.query(
      `select ${keyRowColumns('k')} from record_keys k where k.event_id <= $2 ${after === null ? '' : 'and k.event_id > $3'}
        order by k.event_id limit $1`,
      after === null ? [PAGE, newest] : [PAGE, newest, after],
    );
    return keyRowsOf(rows);
  };
  for await (const page of pagesOf(read, (row: KeyRow) => row.event_id)) {
    const open = new Set((await openKnownRows(keyring, page)).map((row) => row.eventId));
    for (const { event_id: key } of page) {
      if (!open.has(key))
        findings.add({ kind: 'row-altered', table: 'record_keys', key, detail: 'its seal does not match the row' });
    }
    const ids = await recordless(
      db,
      page.map((row) => row.event_id),
    );
    for (const key of ids)
      findings.add({
        kind: 'reference-differs',
        table: 'record_keys',
        key,
        detail: 'the record of this key is neither stored nor in a batch',
      });
    done += page.length;
    await step(done, total === null ? null : before + Math.max(total, done - before));
  }
  return done;
}

/**
 * Returns those of the keys whose record is neither sealed nor stored. Unsealed events have no index by
 * their ids, and are read only if a record is not sealed. It may have been sealed meanwhile.
 */
async function recordless(db: Section['db'], ids: readonly string[]): Promise<readonly string[]> {
  const unsealed = await idsWithout(db, ids, 'sealed_events where event_id = k.id');
  if (unsealed.length === 0) return [];
  const unknown = await idsWithout(db, unsealed, 'event_log.unsealed_events where id = k.id');
  return unknown.length === 0 ? [] : idsWithout(db, unknown, 'sealed_events where event_id = k.id');
}

/** @param rows table and condition of the rows that an id should have */
async function idsWithout(db: Section['db'], ids: readonly string[], rows: string): Promise<readonly string[]> {
  const found = await db.query(
    `select k.id::text from unnest($1::uuid[]) as k (id)
      where exists (select from record_keys r where r.event_id = k.id) and not exists (select from ${rows})`,
    [ids],
  );
  return IdRows.parse(found.rows).map(({ id }) => id);
}
