import * as z from 'zod';
import { toHex } from '../../schemas/crypto/encoding.js';
import { personTag } from '../../schemas/evidence/person-tag.js';
import { personId, SEED_BYTES } from '../platform/keys/index.js';
import { PAGE, pagesOf, type Section } from './section.js';

const Bytes = z.instanceof(Uint8Array);
const PersonRows = z.array(
  z.object({
    key: z.string(),
    site_id: z.string(),
    visitor_index: Bytes,
    seed: Bytes,
    records: z.number(),
    /** Whether one of the person's records that are not erased is sealed, or null if there is no such record. */
    is_sealed: z.boolean().nullable(),
  }),
);
const TagRows = z.array(z.object({ tag: z.string() }));

/** The tags of a person's first sealed record, and of the last one that is counted, must be those that the seed gives. */
export async function auditPersons({ db, keyring, findings, step }: Section, before: number): Promise<void> {
  let done = before;
  const read = async (after: string | null) => {
    const { rows } = await db.query(
      `select site_id || ' ' || encode(visitor_index, 'hex') as key, site_id, visitor_index, seed, records,
              case when exists (select from record_keys k where k.site_id = persons.site_id and k.visitor_index = persons.visitor_index offset 0)
                   then exists (select from record_keys k
                     cross join lateral (select from sealed_events where event_id = k.event_id offset 0) e
                     where k.site_id = persons.site_id and k.visitor_index = persons.visitor_index offset 0) end as is_sealed
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
}
