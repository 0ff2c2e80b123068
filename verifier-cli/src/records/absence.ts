import { isReceipt, isUnfiltered, type Manifest } from '../../../schemas/evidence/manifest.js';
import { erasureTag } from '../../../schemas/evidence/person-tag.js';
import { coverOf } from '../../../schemas/evidence/roll-ups.js';
import type { TagCache, TagPlace } from '../batches/tags.js';
import type { StreamTail } from '../completeness/coverage.js';
import type { Erasures } from '../entries/erasures.js';
import { type Finding, finding } from '../findings/finding.js';
import { WORK, type WorkMeter } from '../work/work-meter.js';
import type { ConsentTable } from './consent-table.js';

/** Evidence of a package about the erasures that it could leave out. */
export type ErasureAbsence =
  /** Other checks show that the package has every erasure, or nothing is in the ledger. */
  | { readonly kind: 'not-needed' }
  /** Why the record of a row may be erased, by row. All other rows that need proof are shown not to be erased. */
  | { readonly kind: 'shown'; readonly problems: ReadonlyMap<number, AbsenceProblem> };

/** Why a record may be erased. */
export interface AbsenceProblem {
  /** Indeterminate: a batch of an unknown version may have the erasure. */
  readonly outcome: 'fail' | 'indeterminate';
  readonly message: Finding;
}

interface AbsenceContext {
  readonly manifest: Manifest | null;
  /** Tail of the stream of consents. */
  readonly tail: StreamTail;
  /** Size of the package's checkpoint, or null if it has none. */
  readonly size: number | null;
  readonly work: WorkMeter;
}

/**
 * Verifies that the records which match the filter are not erased as of the checkpoint, unless the package has the
 * erasure (docs/evidence-format.md §11). Either the package has all events of the stream from the record to the end, or
 * each leaf of the cover from the record's batch on shows that the erasure tag is absent.
 */
export async function verifyAbsence(
  consents: ConsentTable,
  erasures: Erasures,
  tags: TagCache,
  { manifest, tail, size, work }: AbsenceContext,
): Promise<ErasureAbsence> {
  // `completeness.runs` requires the whole stream of a package without a filter. A receipt shows the state of the
  // record's own checkpoint.
  if (manifest === null || size === null || isUnfiltered(manifest.filter) || isReceipt(manifest))
    return { kind: 'not-needed' };
  const problems = new Map<number, AbsenceProblem>();
  const open = openRows(consents, erasures, tail.isOpen ? Number.POSITIVE_INFINITY : tail.first);
  /** Returns the outcome for a record if a batch does not show whether it contains the record's erasure. */
  const unshown = (index: number): AbsenceProblem['outcome'] =>
    tail.isOpen && consents.row(index).revision >= tail.first ? 'indeterminate' : 'fail';
  const [first] = open;
  let failed = 0;
  for (const number of coverOf(size)) {
    // A checkpoint of any size can be signed, so the cover may never end.
    if (first === undefined || failed === open.length || !work.take(WORK.coverLeaf)) break;
    if (number < first.batch) continue;
    await tags.load(number);
    for (const { index, batch, tag } of open) {
      if (batch > number || !work.take(WORK.tagLookup)) break;
      if (problems.get(index)?.outcome === 'fail') continue;
      const place = tags.placeOf(number, tag);
      if (place === 'absent') continue;
      const problem = problemOf(place, number, unshown(index));
      problems.set(index, problem);
      if (problem.outcome === 'fail') failed += 1;
    }
  }
  return { kind: 'shown', problems };
}

function problemOf(
  place: Exclude<TagPlace, 'absent'>,
  number: number,
  unshown: AbsenceProblem['outcome'],
): AbsenceProblem {
  if (place === 'present') return { outcome: 'fail', message: finding('batch-has-erasure', { batch: number }) };
  if (place === 'unknown-version')
    return {
      outcome: 'indeterminate',
      message: finding('batch-may-have-erasure', { batch: number }),
    };
  const message = finding('erasure-absence-not-shown', { batch: number });
  return { outcome: unshown, message };
}

interface OpenRow {
  readonly index: number;
  readonly batch: number;
  /** Erasure tag, 32 bytes. */
  readonly tag: Uint8Array;
}

/** Returns the rows for which tags must show the absence of an erasure, in the order of their batches. */
function openRows(consents: ConsentTable, erasures: Erasures, tail: number): readonly OpenRow[] {
  const open: OpenRow[] = [];
  for (let index = 0; index < consents.length; index += 1) {
    const row = consents.row(index);
    if (!row.matches || row.erased !== null || row.revision >= tail) continue;
    const eventId = consents.eventIdOf(index);
    if (!erasures.isEmpty && erasures.isErased(eventId)) continue;
    open.push({ index, batch: row.batch, tag: erasureTag(eventId) });
  }
  return open.sort((a, b) => a.batch - b.batch);
}
