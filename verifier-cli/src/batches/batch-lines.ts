import { BatchLine, PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import { LIMITS } from '../container/limits.js';
import type { PackageFiles } from '../files/package-files.js';

/**
 * Reads lines of `batches.ndjson` by the batch's number as their header states it. Nothing is verified here.
 * Headers that are longer than any header are left out.
 * @param wanted numbers of the batches, or null for all
 */
export async function readBatchLines(
  files: PackageFiles,
  wanted: ReadonlySet<number> | null,
): Promise<ReadonlyMap<number, BatchLine>> {
  const batches = new Map<number, BatchLine>();
  for await (const { value } of files.lines(PACKAGE_FILES.batches, BatchLine, 'batch.header')) {
    const [, digits] = /"number":(\d{1,15})[,}]/.exec(value.header) ?? [];
    const isWanted = digits !== undefined && (wanted === null || wanted.has(Number(digits)));
    const isShort = value.header.length <= LIMITS.headerLength;
    if (isWanted && isShort && batches.size < LIMITS.batches) batches.set(Number(digits), value);
  }
  return batches;
}
