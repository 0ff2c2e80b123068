import * as z from 'zod';
import { BatchHeader, batchHeaderText } from '../../../schemas/evidence/batch-header.js';
import { Count } from '../../../schemas/evidence/primitives.js';
import { areCountsImpossible, areRootsPossible, isAfterPossible } from '../batches/header-rules.js';
import { parseShape } from '../files/parse.js';

/** The header of a leaf, or its version if this program does not know it, or what is wrong with it. */
export type ReadHeader =
  | { readonly header: BatchHeader; readonly newer: null; readonly problem: null }
  | { readonly header: null; readonly newer: number; readonly problem: null }
  | { readonly header: null; readonly newer: null; readonly problem: string };

/** What a header of every version has (docs/evidence-format.md §17). */
const NewerHeader = z.looseObject({ v: z.int().min(2), number: Count });

/**
 * Reads the content of a leaf of the ledger tree as the header that it must be (docs/evidence-format.md §6).
 * @param number index of the leaf
 */
export function readHeaderOf(text: string, number: number): ReadHeader {
  const parsed = parseShape(BatchHeader, text);
  if (parsed.ok) {
    const problem = problemOf(parsed.value, text, number);
    return problem === null ? { header: parsed.value, newer: null, problem } : { header: null, newer: null, problem };
  }
  const later = parseShape(NewerHeader, text);
  if (later.ok && later.value.number === number) return { header: null, newer: later.value.v, problem: null };
  return { header: null, newer: null, problem: 'that is not a header' };
}

function problemOf(header: BatchHeader, text: string, number: number): string | null {
  if (batchHeaderText(header) !== text) return 'whose header is not canonical';
  if (header.number !== number) return `whose header states the number ${header.number}`;
  if (areCountsImpossible(header)) return 'whose counts contradict each other';
  if (!areRootsPossible(header)) return 'whose counts and roots contradict each other';
  if (!isAfterPossible(header)) return `that names a time stamp over ${header.after?.size} leaves`;
  return null;
}
