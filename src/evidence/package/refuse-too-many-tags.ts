import type { RevisionRun } from '../../../schemas/evidence/batch-header.js';
import { PROOF_LIMITS } from '../../../schemas/evidence/proof-limits.js';
import { PERIODS } from '../../../schemas/evidence/roll-ups.js';
import type { Queryable } from '../../platform/database/pool.js';
import { ExportFailed } from './errors.js';
import { batchOf } from './ledger-reader.js';

/** Bytes of the line of a shown tag in `tags/<number>.ndjson`, at least. */
const LINE_BYTES = 85;
/** More tags of a package do not fit into the file of a roll-up, whatever else is in its tree. */
const MOST_TAGS = Math.floor(PROOF_LIMITS.fileBytes / LINE_BYTES);
/** Batches of the larger roll-ups. Those of the smaller ones cannot have so many leaves. */
const PERIOD = PERIODS[2];

/**
 * Refuses runs whose tags cannot fit into the file of a roll-up, before hours of work. Whether others
 * fit shows when their file is made, because its size depends on the tags of other sites.
 * @param runs of consents that a package encloses
 * @param size of the checkpoint
 * @throws ExportFailed `too-large`
 */
export async function refuseTooManyTags(
  db: Queryable,
  runs: readonly RevisionRun[],
  size: number,
  limits: { readonly mostTags: number; readonly period: number } = { mostTags: MOST_TAGS, period: PERIOD },
): Promise<void> {
  const { mostTags, period } = limits;
  for (const run of runs) {
    if (run.last - run.first < mostTags) continue;
    const first = await batchOf(db, run.stream, run.first);
    let start = run.first;
    for (let end = first - (first % period) + period; end <= size && start <= run.last; end += period) {
      const next = await firstRevisionFrom(db, run, start, end);
      if (next - start > mostTags)
        throw new ExportFailed(
          'too-large',
          `${next - start} of the records are in ${period} batches that follow each other, and a package holds ${mostTags} of so many batches at most. Choose a shorter time range.`,
        );
      start = next;
    }
  }
}

/** The first revision of a run, from a revision on, whose batch is not below `batch`. Batches ascend with revisions. */
async function firstRevisionFrom(db: Queryable, run: RevisionRun, from: number, batch: number): Promise<number> {
  let low = from;
  let high = run.last + 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if ((await batchOf(db, run.stream, middle)) < batch) low = middle + 1;
    else high = middle;
  }
  return low;
}
