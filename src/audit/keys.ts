import * as z from 'zod';
import { toHex } from '../../schemas/crypto/encoding.js';
import { personTag } from '../../schemas/evidence/person-tag.js';
import { checkKeyRows, type KeyRow, keyRowColumns, keyRowsOf, personId, SEED_BYTES } from '../platform/keys/index.js';
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
  // Records that are admitted meanwhile are in flight: a busy service would have no end.
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

const Bytes = z.instanceof(Uint8Array);
const PersonRows = z.array(
  z.object({
    key: z.string(),
    site_id: z.string(),
    visitor_index: Bytes,
    seed: Bytes,
    records: z.number(),
    /** Whether one of the person's records that are not erased is sealed; null: there is no such record. */
    is_sealed: z.boolean().nullable(),
  }),
);
const TagRows = z.array(z.object({ tag: z.string() }));

/** The tags of a person's first sealed record, and of the last one that is counted, must be those that the seed gives. */
async function auditPersons({ db, keyring, findings, step }: Section, before: number): Promise<void> {
  let done = before;
  const read = async (after: string | null) => {
    const { rows } = await db.query(
      `select site_id || ' ' || encode(visitor_index, 'hex') as key, site_id, visitor_index, seed, records,
              (select bool_or(exists (select from sealed_events e where e.event_id = k.event_id)) from record_keys k
                where k.site_id = persons.site_id and k.visitor_index = persons.visitor_index) as is_sealed
         from persons
        ${after === null ? '' : 'where (site_id, visitor_index) > ($2::uuid, decode($3, $4))'}
        order by site_id, visitor_index limit $1`,
      after === null ? [PAGE] : [PAGE, ...after.split(' '), 'hex'],
    );
    return PersonRows.parse(rows);
  };
  for await (const page of pagesOf(read, (row) => row.key)) {
    const wanted: { readonly key: string; readonly tag: string }[] = [];
    for (const row of page) {
      const siteKey = await keyring.siteKey(row.site_id).catch(() => null);
      if (siteKey === null || row.records < 0 || row.seed.length !== SEED_BYTES) {
        findings.add({
          kind: 'derived-differs',
          table: 'persons',
          key: row.key,
          detail: 'the person belongs to no site',
        });
        continue;
      }
      if (row.is_sealed === null) {
        findings.add({
          kind: 'reference-differs',
          table: 'persons',
          key: row.key,
          detail: 'no record of the person has a key: the row goes with the last one',
        });
        continue;
      }
      if (row.records === 0 && !row.is_sealed) continue;
      const id = personId(siteKey, row.seed, row.visitor_index);
      for (const number of new Set([1, Math.max(row.records, 1)]))
        wanted.push({ key: row.key, tag: toHex(personTag(id, number)) });
    }
    const { rows } = await db.query(
      `select encode(person_tag, 'hex') as tag from sealed_events where person_tag = any(
         select decode(t, 'hex') from unnest($1::text[]) t)`,
      [wanted.map(({ tag }) => tag)],
    );
    const sealed = new Set(TagRows.parse(rows).map(({ tag }) => tag));
    for (const { key, tag } of wanted)
      if (!sealed.has(tag))
        findings.add({
          kind: 'derived-differs',
          table: 'persons',
          key,
          detail: 'no sealed record has the tag that its seed, index and number give',
        });
    done += page.length;
    await step(done, null);
  }
  const { rows } = await db.query(
    `select k.event_id::text as id from record_keys k join sealed_events l on l.event_id = k.event_id
      where k.visitor_index is not null
        and not exists (select from persons p where p.site_id = k.site_id and p.visitor_index = k.visitor_index)
      limit ${PAGE}`,
  );
  for (const { id } of IdRows.parse(rows))
    findings.add({
      kind: 'derived-differs',
      table: 'persons',
      key: id,
      detail: 'the person of this sealed record has no row',
    });
}
