import { randomBytes } from 'node:crypto';
import * as z from 'zod';
import { toHex } from '../../../schemas/crypto/encoding.js';
import { isConsentType } from '../../../schemas/events/sealed-event.js';
import { siteOfStream } from '../../../schemas/events/streams.js';
import { PERSON_TAG_BYTES, personTag } from '../../../schemas/evidence/person-tag.js';
import { type Queryable, withTransaction } from '../../platform/database/pool.js';
import { personsLock } from '../../platform/database/shared-statements.js';
import { type Keyring, keyRowColumns, keyRowsOf, NotGenuine, personId, SEED_BYTES } from '../../platform/keys/index.js';
import type { LoggedEvent } from '../event-log/port.js';
import { TablesDiffer } from '../ledger/errors.js';

export type SiteKeys = Pick<Keyring, 'siteKeys' | 'openKeyRows'>;

const Bytes = z.instanceof(Uint8Array);
const personRows = z.array(
  z.object({ site_id: z.string(), visitor_index: Bytes, seed: Bytes, records: z.int().min(0) }),
);
const tagRows = z.array(z.object({ person_tag: Bytes }));

type PersonKey = string;
const keyOf = (row: { readonly site_id: string; readonly visitor_index: Uint8Array }): PersonKey =>
  `${row.site_id} ${toHex(row.visitor_index)}`;

/** Numbering of the records of a person. */
export interface Numbering {
  /** Number of the person's next record. */
  next: number;
  /** Number that the row of the person states. */
  readonly stored: number;
}

/**
 * How many numbers a row may lag behind the person's records. Most people have few records, so their rows never change,
 * and looking up a further record tries at most this many tags.
 */
const MAX_STORED_LAG = 8;

interface Person {
  /** 32 bytes. */
  readonly id: Uint8Array;
  /** Key of `nextNumbers`. */
  readonly numbering: string;
  readonly stored: number;
  next: number;
  /** Whether the table states the value of `next`. */
  readonly isStored: boolean;
}

/**
 * Assigns the person tags of consents: each record of a person gets the next number. A consent whose person is unknown
 * or erased gets random bytes.
 * @param nextNumbers the next number of each person with a record in the pending batch, by site, blind index and seed;
 * this function updates it
 * @param events the events in the order in which they are sealed
 * @returns tags by event id, 32 bytes each, without events that are not consents
 * @throws TablesDiffer if a row of `persons` contradicts the ledger
 * @throws NotGenuine if a key row was altered, because a tag says forever whose record it is
 */
export async function assignTags(
  db: Queryable,
  keyring: SiteKeys,
  nextNumbers: Map<string, Numbering>,
  events: readonly LoggedEvent[],
): Promise<ReadonlyMap<string, Uint8Array>> {
  const consents = events.filter(({ type }) => isConsentType(type));
  if (consents.length === 0) return new Map();
  const sites = [...new Set(consents.flatMap(({ stream }) => siteOfStream(stream) ?? []))];
  // Read before the transaction, which must not wait for a second connection.
  await keyring.siteKeys(sites);
  const found = await readPersons(db, keyring, sites, consents);
  const persons = new Map<PersonKey, Person>();
  const siteKeys = await keyring.siteKeys([...new Set(found.persons.map((row) => row.site_id))]);
  for (const row of found.persons) {
    const key = keyOf(row);
    const siteKey = siteKeys.get(row.site_id);
    if (siteKey === undefined) throw new Error(`the keyring returned no key of the site ${row.site_id}`);
    const id = personId(siteKey, row.seed, row.visitor_index);
    // A person who is erased while the batch is pending gets another seed and starts again with 1.
    const numbering = `${key} ${toHex(row.seed)}`;
    const known = nextNumbers.get(numbering);
    persons.set(key, {
      id,
      numbering,
      stored: row.records,
      next: known?.next ?? row.records + 1,
      isStored: known === undefined,
    });
  }
  await assertSealed(db, [...persons.values()]);
  await skipSealedNumbers(db, persons);
  const tags = new Map<string, Uint8Array>();
  for (const { id: eventId } of consents) {
    const key = found.personOf.get(eventId);
    const person = key === undefined ? undefined : persons.get(key);
    if (key === undefined || person === undefined) {
      tags.set(eventId, randomBytes(PERSON_TAG_BYTES));
      continue;
    }
    tags.set(eventId, personTag(person.id, person.next));
    person.next += 1;
    nextNumbers.set(person.numbering, { next: person.next, stored: person.stored });
  }
  return tags;
}

/** Finds the persons of records, and stores an id for those who have none yet. */
async function readPersons(
  db: Queryable,
  keyring: SiteKeys,
  sites: readonly string[],
  consents: readonly LoggedEvent[],
): Promise<{
  readonly personOf: ReadonlyMap<string, PersonKey>;
  readonly persons: z.infer<typeof personRows>;
}> {
  return await withTransaction(db, async (db) => {
    // An erasure takes the same lock. Without it, a row could be added for a person whose last record is being erased,
    // and would remain.
    await db.query(
      `select pg_advisory_xact_lock_shared(${personsLock('id')}) from (select id::text from unnest($1::uuid[]) as s (id) order by id) s`,
      [sites],
    );
    const records = await db.query(
      `select ${keyRowColumns('k')} from record_keys k where k.event_id = any($1::uuid[])`,
      [consents.map(({ id }) => id)],
    );
    const personOf = new Map<string, PersonKey>();
    const wanted = new Map<PersonKey, { site_id: string; visitor_index: Uint8Array }>();
    const rows = keyRowsOf(records.rows);
    const open = await keyring.openKeyRows(rows);
    if (open.length < rows.length) {
      const known = new Set(open.map(({ eventId }) => eventId));
      const altered = rows.find((row) => !known.has(row.event_id));
      throw new NotGenuine(`the key row of the record ${altered?.event_id} was altered`);
    }
    for (const { eventId, siteId, visitorIndex } of open) {
      if (visitorIndex === null) continue;
      const person = { site_id: siteId, visitor_index: visitorIndex };
      personOf.set(eventId, keyOf(person));
      wanted.set(keyOf(person), person);
    }
    if (wanted.size === 0) return { personOf, persons: [] };
    const people = [...wanted.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, person]) => person);
    const keys = [people.map((person) => person.site_id), people.map((person) => person.visitor_index)];
    await db.query(
      `insert into persons (site_id, visitor_index, seed)
       select * from unnest($1::uuid[], $2::bytea[], $3::bytea[]) on conflict do nothing`,
      [...keys, people.map(() => randomBytes(SEED_BYTES))],
    );
    // There are no statistics on these indexes, so LIMIT makes the planner look each of them up.
    const persons = await db.query(
      `select w.site_id, w.visitor_index, p.seed, p.records
         from unnest($1::uuid[], $2::bytea[]) as w (site_id, visitor_index), lateral (
           select o.seed, o.records from persons o
            where o.site_id = w.site_id and o.visitor_index = w.visitor_index limit 1) p`,
      keys,
    );
    return { personOf, persons: personRows.parse(persons.rows) };
  });
}

/**
 * Checks that the last record that a row counts is sealed. If a number were skipped, no verifier would look for the
 * person's further records.
 * @throws TablesDiffer
 */
async function assertSealed(db: Queryable, persons: readonly Person[]): Promise<void> {
  const last = persons.flatMap(({ id, next, isStored }) => (isStored && next > 1 ? [personTag(id, next - 1)] : []));
  if (last.length === 0) return;
  const { rows } = await db.query('select person_tag from sealed_events where person_tag = any($1::bytea[])', [last]);
  const sealed = new Set(tagRows.parse(rows).map((row) => toHex(row.person_tag)));
  const missing = last.filter((tag) => !sealed.has(toHex(tag))).length;
  if (missing > 0) throw new TablesDiffer('persons', 'records', `${missing} of them count a record that is not sealed`);
}

/** Advances people past the numbers that are already sealed, because the row does not state each of them. */
async function skipSealedNumbers(db: Queryable, persons: ReadonlyMap<PersonKey, Person>): Promise<void> {
  let open = [...persons.values()];
  while (open.length > 0) {
    const { rows } = await db.query('select person_tag from sealed_events where person_tag = any($1::bytea[])', [
      open.map(({ id, next }) => personTag(id, next)),
    ]);
    const sealed = new Set(tagRows.parse(rows).map((row) => toHex(row.person_tag)));
    open = open.filter(({ id, next }) => sealed.has(toHex(personTag(id, next))));
    for (const person of open) person.next += 1;
  }
}

/**
 * Stores how far the records of people with many records are sealed.
 * @param nextNumbers the next numbers after the sealed batch
 */
export async function rememberNumbers(db: Queryable, nextNumbers: ReadonlyMap<string, Numbering>): Promise<void> {
  const persons = [...nextNumbers]
    .filter(([, { next, stored }]) => next - 1 - stored >= MAX_STORED_LAG)
    .map(([key, { next }]) => ({ key: key.split(' '), next }));
  if (persons.length === 0) return;
  await db.query(
    `update persons p set records = greatest(p.records, n.records)
       from unnest($1::uuid[], $2::text[], $3::text[], $4::bigint[]) as n (site_id, visitor_index, seed, records), lateral (
         select o.ctid as place from persons o
          where o.site_id = n.site_id and o.visitor_index = decode(n.visitor_index, 'hex') limit 1) f
      where p.ctid = f.place and p.site_id = n.site_id and p.visitor_index = decode(n.visitor_index, 'hex')
        and p.seed = decode(n.seed, 'hex')`,
    [
      persons.map(({ key }) => key[0] ?? ''),
      persons.map(({ key }) => key[1] ?? ''),
      persons.map(({ key }) => key[2] ?? ''),
      persons.map(({ next }) => next - 1),
    ],
  );
}
