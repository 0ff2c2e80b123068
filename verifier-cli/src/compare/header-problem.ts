import { BatchHeader, batchHeaderText } from '../../../schemas/evidence/batch-header.js';
import { areCountsImpossible, areRootsPossible, isAfterPossible } from '../batches/header-rules.js';
import { parseShape } from '../files/parse.js';

/** The header of a leaf, or what is wrong with it. */
export type ReadHeader =
  | { readonly header: BatchHeader; readonly problem: null }
  | { readonly header: null; readonly problem: string };

/**
 * Reads the content of a leaf of the ledger tree as the header that it must be (docs/evidence-format.md §6).
 * @param number index of the leaf
 */
export function readHeaderOf(text: string, number: number): ReadHeader {
  const parsed = parseShape(BatchHeader, text);
  const problem = parsed.ok ? problemOf(parsed.value, text, number) : 'that is not a header';
  return parsed.ok && problem === null ? { header: parsed.value, problem } : { header: null, problem: problem ?? '' };
}

function problemOf(header: BatchHeader, text: string, number: number): string | null {
  if (batchHeaderText(header) !== text) return 'whose header is not canonical';
  if (header.number !== number) return `whose header states the number ${header.number}`;
  if (areCountsImpossible(header)) return 'whose counts contradict each other';
  if (!areRootsPossible(header)) return 'whose counts and roots contradict each other';
  if (!isAfterPossible(header)) return `that names a time stamp over ${header.after?.size} leaves`;
  return null;
}
