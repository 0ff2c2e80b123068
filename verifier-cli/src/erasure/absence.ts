import { isReceipt, isUnfiltered, type Manifest } from '../../../schemas/evidence/manifest.js';
import { erasureTag } from '../../../schemas/evidence/person-tag.js';
import { coverOf } from '../../../schemas/evidence/roll-ups.js';
import type { TagCache } from '../batches/tags.js';
import type { StreamCoverage } from '../completeness/coverage.js';
import type { ConsentTable } from '../entries/consent-table.js';
import type { Erasures } from './erasures.js';

/** What the package shows of the erasures that it could leave out. */
export type ErasureAbsence =
  /** Other checks show that the package has every erasure, or nothing is in the ledger. */
  | { readonly kind: 'not-needed' }
  /** By row: why the record may be erased. The other rows that need it are shown not to be erased. */
  | { readonly kind: 'shown'; readonly problems: ReadonlyMap<number, string> };

/**
 * Verifies that the records which match the filter are not erased as of the checkpoint, unless the
 * package has the erasure. Either the package has all events of the stream from the record to the end,
 * or each leaf of the cover from the record's batch on shows that the erasure tag is absent.
 * @param size of the package's checkpoint; null if it has none
 */
export async function verifyAbsence(
  consents: ConsentTable,
  erasures: Erasures,
  tags: TagCache,
  { manifest, coverage, size }: { manifest: Manifest | null; coverage: StreamCoverage | null; size: number | null },
): Promise<ErasureAbsence> {
  // `completeness.runs` demands the whole stream of a package without a filter. A receipt is as of the
  // record's own checkpoint.
  if (manifest === null || size === null || isUnfiltered(manifest.filter) || isReceipt(manifest))
    return { kind: 'not-needed' };
  const problems = new Map<number, string>();
  const tail = tailOf(coverage);
  const open = openRows(consents, erasures, tail);
  for (const number of coverOf(size)) {
    const [first] = open;
    if (first === undefined || number < first.batch) continue;
    await tags.load(number);
    for (const { index, batch, tag } of open) {
      if (batch > number) break;
      if (problems.has(index)) continue;
      const place = tags.placeOf(number, tag);
      if (place === 'present') problems.set(index, `batch ${number} has an erasure of the record`);
      else if (place === 'unproved')
        problems.set(index, `the package does not show that batch ${number} has no erasure of the record`);
    }
  }
  return { kind: 'shown', problems };
}

/** The revision from which the package has all events of the stream up to its end. */
function tailOf(coverage: StreamCoverage | null): number {
  const last = coverage?.complete.at(-1);
  return last !== undefined && last.last === coverage?.ledger_reaches ? last.first : Number.POSITIVE_INFINITY;
}

interface OpenRow {
  readonly index: number;
  readonly batch: number;
  /** Erasure tag, 32 bytes. */
  readonly tag: Uint8Array;
}

/** The rows whose erasure the tags must show to be absent, in the order of their batches. */
function openRows(consents: ConsentTable, erasures: Erasures, tail: number): readonly OpenRow[] {
  const open: OpenRow[] = [];
  for (let index = 0; index < consents.length; index += 1) {
    const row = consents.row(index);
    if (!row.matches || row.erased !== null || row.revision >= tail) continue;
    if (!erasures.isEmpty && erasures.isErased(consents.eventIdOf(index))) continue;
    open.push({ index, batch: row.batch, tag: erasureTag(consents.tagOf(index)) });
  }
  return open.sort((a, b) => a.batch - b.batch);
}
