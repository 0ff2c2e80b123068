import type { RevisionRun } from '../../../schemas/evidence/batch-header.js';
import { BatchHeader } from '../../../schemas/evidence/batch-header.js';
import { PROOF_LIMITS } from '../../../schemas/evidence/proof-limits.js';
import { coverOf } from '../../../schemas/evidence/roll-ups.js';
import type { Queryable } from '../../platform/database/pool.js';
import { batchOf, readBatches } from './ledger-reader.js';
import { mostTagBytes } from './tags-files.js';

/** Bytes of an entry with its proofs, roughly. */
const ENTRY_BYTES = 1_200;
/** Bytes by which a leaf of the cover shows that one tag is absent, at most roughly. */
const ABSENCE_BYTES = 1_700;
/** Bytes of a tag that is shown. */
const TAG_BYTES = 100;

/**
 * Decides how a package with a run of records shows that they are not erased: in each leaf of the cover
 * from their batch on, or by all events of the stream up to its end.
 * @param run of the consents stream, shorter than the stream
 * @param last last revision of the stream as of the checkpoint
 * @param size of the checkpoint
 * @returns whether the first way needs fewer bytes
 */
export async function isAbsenceSmaller(db: Queryable, run: RevisionRun, last: number, size: number): Promise<boolean> {
  const first = await batchOf(db, run.stream, run.first);
  const cover = [...coverOf(size)].filter((number) => number >= first);
  const headers = await readBatches(db, cover);
  const tags = headers.map(({ header }) => BatchHeader.parse(JSON.parse(header)).tags_count);
  const records = run.last - run.first + 1;
  const inAll = tags.reduce((sum, count) => sum + absenceBytes(records, count), 0);
  const isWithinLimits =
    inAll <= mostTagBytes(records * ENTRY_BYTES) / 2 && tags.every((count) => fitsIntoFile(records, count));
  return isWithinLimits && inAll < (last - run.last) * ENTRY_BYTES;
}

/** Whether the file of a leaf holds all of its tags, or what shows that as many tags are absent, which is an estimate. */
function fitsIntoFile(records: number, tagsCount: number): boolean {
  return tagsCount * TAG_BYTES <= PROOF_LIMITS.fileBytes || records * ABSENCE_BYTES <= PROOF_LIMITS.fileBytes / 2;
}

/**
 * Estimates the bytes by which a leaf of the cover shows that tags are absent.
 * @param records number of tags
 * @param tagsCount number of tags in the leaf
 */
export function absenceBytes(records: number, tagsCount: number): number {
  return Math.min(tagsCount * TAG_BYTES, records * ABSENCE_BYTES);
}
