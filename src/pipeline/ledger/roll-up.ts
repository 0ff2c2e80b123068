import { randomBytes } from 'node:crypto';
import * as z from 'zod';
import { sha256 } from '../../../schemas/crypto/digest.js';
import { equalBytes, toHex } from '../../../schemas/crypto/encoding.js';
import {
  type KeyedRun,
  type RevisionRun,
  type StreamKeyOf,
  streamsRoot,
  tiledRuns,
} from '../../../schemas/evidence/batch-header.js';
import { personTagLeaf } from '../../../schemas/evidence/person-tag.js';
import { firstCovered } from '../../../schemas/evidence/roll-ups.js';
import { Frontier } from '../../../schemas/merkle/tree.js';
import { type Queryable, withTransaction } from '../../platform/database/pool.js';
import type { EventLog } from '../event-log/port.js';
import { splitTags } from './batch-rules.js';
import { TablesDiffer } from './errors.js';
import type { FollowedLedger } from './ledger-state.js';
import { readBatchesBackwards } from './read-ledger.js';

/** Number of tags per fetch. */
const PAGE = 10_000;

const runRows = z.array(z.object({ number: z.int(), stream: z.string(), first: z.int(), last: z.int() }));
const tagRows = z.array(z.object({ person_tag: z.instanceof(Uint8Array), batch: z.int(), index: z.int() }));

/** The members of a header that a roll-up commits to. A batch also commits to its leaves. */
export interface Commitment {
  readonly count: number;
  readonly streams_count: number;
  readonly streams_root: string;
  readonly tags_count: number;
  readonly tags_root: string;
}

/**
 * Computes what the roll-up that follows `state` commits to, from the batches that it covers as the stream `ledger` has
 * them. The time is linear in their number; only their streams are held in memory. The database sorts the tags, and a
 * keyed digest of the set shows that they are the tags of the stream.
 * @throws TablesDiffer if the stored tags differ from those of the stream; EventLogUnavailable, database errors
 */
export async function readCommitment(
  db: Queryable,
  eventLog: EventLog,
  { revision, size, keyOf }: Pick<FollowedLedger, 'revision' | 'size' | 'keyOf'>,
): Promise<Commitment> {
  const logged = new TagSet();
  const stored = logged.another();
  const merged = new Map<string, RevisionRun>();
  for await (const { runs, tags } of readBatchesBackwards(eventLog, revision, firstCovered(size))) {
    for (const tag of splitTags(tags) ?? []) logged.add(tag);
    for (const [stream, first, last] of runs)
      merged.set(stream, { stream, first, last: merged.get(stream)?.last ?? last });
  }
  const tree = new Frontier();
  await eachTag(db, size, (tag) => {
    tree.append(personTagLeaf(tag));
    stored.add(tag);
  });
  if (!stored.equals(logged))
    throw new TablesDiffer('leaves', `batches ${firstCovered(size)} to ${size - 1}`, 'the person tags are others');
  const runs = tiledRuns([...merged.values()], keyOf);
  return {
    count: runs.reduce((sum, { first, last }) => sum + last - first + 1, 0),
    streams_count: runs.length,
    streams_root: toHex(streamsRoot(runs)),
    tags_count: tree.size,
    tags_root: toHex(tree.root()),
  };
}

/** Digest of a set of tags. The order does not matter, and without the key nobody can construct a collision. */
class TagSet {
  readonly #sum = new Uint8Array(32);
  #count = 0;

  constructor(private readonly key: Uint8Array = randomBytes(32)) {}

  another(): TagSet {
    return new TagSet(this.key);
  }

  add(tag: Uint8Array): void {
    this.#count += 1;
    for (const [place, byte] of sha256(this.key, tag).entries()) this.#sum[place] = (this.#sum[place] ?? 0) ^ byte;
  }

  equals(other: TagSet): boolean {
    return this.#count === other.#count && equalBytes(this.#sum, other.#sum);
  }
}

/**
 * Reads the runs of batches and roll-ups, as their `streams_root` commits to them. The memory is linear
 * in the number of these runs.
 * @returns the runs by number, without batches that have no leaves
 */
export async function readRuns(
  db: Queryable,
  numbers: readonly number[],
  keyOf: StreamKeyOf,
): Promise<ReadonlyMap<number, readonly KeyedRun[]>> {
  const { rows } = await db.query(
    `select number, stream, first, last
       from unnest($1::bigint[], $2::bigint[]) as wanted (first_covered, number),
       lateral (select s.stream, r.first, r.last
                  from (select stream, min(revision) as first, max(revision) as last from sealed_events
                         where batch between first_covered and number group by stream) r
                  join sealed_streams s on s.number = r.stream) as runs`,
    [numbers.map(firstCovered), numbers],
  );
  const found = new Map<number, RevisionRun[]>();
  for (const { number, ...run } of runRows.parse(rows)) {
    const runs = found.get(number);
    if (runs === undefined) found.set(number, [run]);
    else runs.push(run);
  }
  return new Map([...found].map(([number, runs]) => [number, tiledRuns(runs, keyOf)]));
}

/**
 * Reads the person tags of a batch or roll-up, in increasing order, 32 bytes each.
 * @param accept a function that is called with each tag, the batch of its leaf and the leaf's index there
 */
export async function eachTag(
  db: Queryable,
  number: number,
  accept: (tag: Uint8Array, batch: number, index: number) => void,
): Promise<void> {
  await eachTagPage(db, number, (page) => {
    for (const { person_tag: tag, batch, index } of page) accept(tag, batch, index);
  });
}

/**
 * Reads the tags like `eachTag`, page by page. The database sorts them, so that any number of tags needs little memory
 * here.
 * @param accept a function that is called with the next tags, at least one; the following ones are read when it
 * resolves
 */
export async function eachTagPage(
  db: Queryable,
  number: number,
  accept: (page: z.infer<typeof tagRows>) => Promise<void> | void,
): Promise<void> {
  await withTransaction(db, async (db) => {
    // MATERIALIZED, because otherwise the index of tags would be read from end to end for the tags of one period.
    await db.query(
      `declare tags no scroll cursor for
         with own as materialized (
           select person_tag, batch, index from sealed_events
            where batch between $1 and $2 and person_tag is not null)
         select person_tag, batch, index from own order by person_tag`,
      [firstCovered(number), number],
    );
    for (;;) {
      const { rows } = await db.query(`fetch ${PAGE} from tags`);
      if (rows.length > 0) await accept(tagRows.parse(rows));
      if (rows.length < PAGE) break;
    }
    await db.query('close tags');
  });
}
