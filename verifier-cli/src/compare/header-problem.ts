import { equalBytes, fromHex } from '../../../schemas/crypto/encoding.js';
import { BatchHeader, batchHeaderText } from '../../../schemas/evidence/batch-header.js';
import { emptyRoot } from '../../../schemas/merkle/hashing.js';
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
  const { count, root, streams_count: streams, tags_count: tags, after } = header;
  if (batchHeaderText(header) !== text) return 'whose header is not canonical';
  if (header.number !== number) return `whose header states the number ${header.number}`;
  if (streams > count || tags > count || (count > 0 && streams === 0)) return 'whose counts contradict each other';
  const isEmpty = (size: number, hex: string): boolean =>
    (size === 0) === equalBytes(fromHex(hex) ?? new Uint8Array(), emptyRoot());
  if (
    !isEmpty(streams, header.streams_root) ||
    !isEmpty(tags, header.tags_root) ||
    (root !== null && !isEmpty(count, root))
  )
    return 'whose counts and roots contradict each other';
  if (after !== null && (after.size > number || after.size === 0))
    return `that names a time stamp over ${after.size} leaves`;
  return null;
}
