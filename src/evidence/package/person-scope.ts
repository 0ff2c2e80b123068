import { z } from 'zod';
import { personTag } from '../../../schemas/evidence/person-tag.js';
import type { Queryable } from '../../platform/database/pool.js';
import { personId } from '../../platform/keys/index.js';

/** The records of a person as of a checkpoint, as the tags of the ledger show them. */
export interface PersonScope {
  /** What the tags are made from, 32 bytes; null if the ledger has no record of the person that is not erased. */
  readonly id: Uint8Array | null;
  /** Number of the person's records below the checkpoint; null: the filter restricts them further. */
  readonly records: number | null;
  /** Revisions of these records, erased ones included. */
  readonly revisions: readonly number[];
}

/** Records that one statement looks up. */
const PAGE = 1_000;

const Bytes = z.instanceof(Uint8Array);
const personRows = z.array(z.object({ seed: Bytes })).max(1);
const leafRows = z.array(z.object({ revision: z.int() }));

/**
 * Finds all records of a person below `size`. Their numbers have no gap, so that the first page that is
 * not full ends the search.
 * @param siteKey 32 bytes
 * @param visitorIndex blind index of the visitor id
 */
export async function findPerson(
  db: Queryable,
  siteId: string,
  siteKey: Uint8Array,
  visitorIndex: Uint8Array,
  size: number,
): Promise<PersonScope> {
  const { rows } = await db.query('select seed from persons where site_id = $1 and visitor_index = $2', [
    siteId,
    visitorIndex,
  ]);
  const [row] = personRows.parse(rows);
  if (row === undefined) return { id: null, records: 0, revisions: [] };
  const id = personId(siteKey, row.seed, visitorIndex);
  const revisions: number[] = [];
  for (;;) {
    const tags = Array.from({ length: PAGE }, (_, i) => personTag(id, revisions.length + i + 1));
    const found = await db.query('select revision from leaves where person_tag = any($1::bytea[]) and batch < $2', [
      tags,
      size,
    ]);
    const page = leafRows.parse(found.rows);
    for (const { revision } of page) revisions.push(revision);
    if (page.length < PAGE) return { id, records: revisions.length, revisions };
  }
}
