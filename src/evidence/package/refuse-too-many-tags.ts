import { z } from 'zod';
import type { RevisionRun } from '../../../schemas/evidence/batch-header.js';
import { PROOF_LIMITS } from '../../../schemas/evidence/proof-limits.js';
import { PERIODS } from '../../../schemas/evidence/roll-ups.js';
import type { Queryable } from '../../platform/database/pool.js';
import { ExportFailed } from './errors.js';

/** Bytes of the line of a shown tag in `tags/<number>.ndjson`, at least. */
const LINE_BYTES = 85;
/** The most tags of a package that fit into the file of a roll-up. */
const MOST_TAGS = Math.floor(PROOF_LIMITS.fileBytes / LINE_BYTES);

/**
 * Refuses runs whose tags cannot fit into the file of a roll-up, before hours of work.
 * @param runs of consents that a package encloses
 * @param size of the checkpoint
 * @throws ExportFailed `too-large`
 */
export async function refuseTooManyTags(
  db: Queryable,
  runs: readonly RevisionRun[],
  size: number,
  mostTags = MOST_TAGS,
): Promise<void> {
  for (const run of runs) {
    if (run.last - run.first < mostTags) continue;
    for (const period of Object.values(PERIODS)) {
      const most = await mostTagsOf(db, run, size, period);
      if (most > mostTags)
        throw new ExportFailed(
          'too-large',
          `${most} of the records are in ${period} batches that follow each other, and a package holds ${mostTags} of so many batches at most. Choose a shorter time range.`,
        );
    }
  }
}

const Most = z.tuple([z.object({ most: z.coerce.number() })]);

/** The most tags of a run that a roll-up of these periods covers. Only complete periods have one. */
async function mostTagsOf(db: Queryable, run: RevisionRun, size: number, period: number): Promise<number> {
  const { rows } = await db.query(
    `select coalesce(max(tags), 0) as most
       from (select count(*) as tags from leaves
              where stream = $1 and revision between $2 and $3 and batch < $4 and person_tag is not null
              group by batch / $5) as in_period`,
    [run.stream, run.first, run.last, size - (size % period), period],
  );
  return Most.parse(rows)[0].most;
}
