import { fromHex } from '../../../schemas/crypto/encoding.js';
import {
  BatchHeader,
  batchHeaderText,
  batchLeaf,
  type StreamRun,
  streamRunLeaf,
} from '../../../schemas/evidence/batch-header.js';
import { BatchLine, PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import { verifyInclusion } from '../../../schemas/merkle/verify-inclusion.js';
import { LIMITS } from '../container/limits.js';
import type { PackageFiles } from '../files/package-files.js';
import { parseShape } from '../files/parse.js';
import { EntryFindings } from '../findings/entry-findings.js';
import type { Verdict } from '../findings/verdict.js';
import type { EnclosedCheckpoint } from '../ledger/checkpoints.js';

/** A batch of the package, as far as its entries' checks need it. */
export interface Batch {
  readonly header: BatchHeader;
  readonly line: number;
  /** The package's own runs of streams in this batch. */
  readonly runs: readonly StreamRun[];
  /** What the checks of the batch itself found. */
  readonly verdict: Verdict;
}

export type Batches = ReadonlyMap<number, Batch>;

/**
 * Verifies every batch: form, order, its place in the ledger tree, and the runs of streams that it
 * claims.
 */
export async function readBatches(files: PackageFiles, newest: EnclosedCheckpoint | undefined): Promise<Batches> {
  const batches = new Map<number, Batch>();
  let last: BatchHeader | null = null;
  for await (const { line, value } of files.lines(PACKAGE_FILES.batches, BatchLine, 'batch.header')) {
    const findings = new EntryFindings(files.findings, { file: PACKAGE_FILES.batches, line });
    if (batches.size >= LIMITS.batches) {
      files.findings.fail('container.limits', `the package contains more than ${LIMITS.batches} batches`);
      break;
    }
    const header = readHeader(value.header, findings);
    if (header === null) continue;
    verifyOrder(header, last, findings);
    verifyPlace(header, value, newest, findings);
    verifyRuns(header, value, findings);
    if (batches.has(header.number)) continue;
    last = header;
    const runs = value.streams.map(({ stream, first, last: end }) => ({ stream, first, last: end }));
    batches.set(header.number, { header, line, runs, verdict: findings.verdict });
  }
  return batches;
}

function readHeader(text: string, findings: EntryFindings): BatchHeader | null {
  if (text.length > LIMITS.headerLength) {
    findings.fail('batch.header', `the header is longer than ${LIMITS.headerLength} characters`);
    return null;
  }
  const parsed = parseShape(BatchHeader, text);
  if (!parsed.ok) {
    findings.fail('batch.header', `the header is invalid: ${parsed.reason}`);
    return null;
  }
  if (batchHeaderText(parsed.value) !== text) findings.fail('batch.header', 'the header is not canonical JSON');
  else findings.pass('batch.header');
  return parsed.value;
}

function verifyOrder(header: BatchHeader, last: BatchHeader | null, findings: EntryFindings): void {
  if (header.after !== null && (header.after.size > header.number || header.after.size === 0)) {
    findings.fail('batch.header', 'the checkpoint in `after` is larger than the batch number');
  }
  if (last === null) return;
  if (header.number <= last.number)
    findings.fail('batch.header', `batch ${header.number} follows batch ${last.number}`);
  else if (header.sealed_at < last.sealed_at)
    findings.fail('batch.header', 'sealed_at is earlier than that of the previous batch');
  else if ((header.after?.size ?? 0) < (last.after?.size ?? 0)) {
    findings.fail('batch.header', 'the checkpoint in `after` is older than that of the previous batch');
  }
}

function verifyPlace(
  header: BatchHeader,
  line: BatchLine,
  newest: EnclosedCheckpoint | undefined,
  findings: EntryFindings,
): void {
  if (newest === undefined) {
    findings.open('batch.inclusion', 'the package includes no checkpoint that covers the batch');
    return;
  }
  const { size, root } = newest.checkpoint;
  const verdict = verifyInclusion(header.number, size, batchLeaf(line.header), line.path, root);
  if (verdict.ok) findings.pass('batch.inclusion');
  else
    findings.fail('batch.inclusion', `batch ${header.number} is not in the ledger of size ${size}: ${verdict.reason}`);
}

function verifyRuns(header: BatchHeader, line: BatchLine, findings: EntryFindings): void {
  const root = fromHex(header.streams_root) ?? new Uint8Array();
  let last: StreamRun | null = null;
  for (const { index, path, ...run } of line.streams) {
    const verdict = verifyInclusion(index, line.streams_count, streamRunLeaf(run), path, root);
    if (!verdict.ok)
      findings.fail('batch.streams', `the batch does not contain the run of ${run.stream}: ${verdict.reason}`);
    else if (run.last < run.first || run.last - run.first >= header.count)
      findings.fail('batch.streams', 'a run is longer than the batch');
    else if (last !== null && run.stream <= last.stream) findings.fail('batch.streams', 'the runs are not in order');
    else findings.pass('batch.streams');
    last = run;
  }
}
