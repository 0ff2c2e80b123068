import * as z from 'zod';
import { equalBytes, fromHex, toHex } from '../../../schemas/crypto/encoding.js';
import { consentsStream, noticesStream, POLICY_STREAM } from '../../../schemas/events/streams.js';
import { type RunPlace, type StreamRun, streamKeysOf } from '../../../schemas/evidence/batch-header.js';
import type { Manifest } from '../../../schemas/evidence/manifest.js';
import { BatchLine, PACKAGE_FILES, type ShownRun } from '../../../schemas/evidence/package-lines.js';
import { Count } from '../../../schemas/evidence/primitives.js';
import { firstCovered } from '../../../schemas/evidence/roll-ups.js';
import { isCanonicalJson } from '../../../schemas/json/canonical-json.js';
import { areAdjacent, rootOfShown } from '../../../schemas/merkle/shown-leaves.js';
import { verifyInclusion } from '../../../schemas/merkle/verify-inclusion.js';
import { LIMITS } from '../container/limits.js';
import type { PackageFiles } from '../files/package-files.js';
import { matchShape } from '../files/parse.js';
import type { CheckId } from '../findings/checks.js';
import { EntryFindings } from '../findings/entry-findings.js';
import { type Finding, finding } from '../findings/finding.js';
import { proofProblem } from '../findings/proof-problem.js';
import { unknownVersion } from '../findings/unknown-version.js';
import type { Verdict } from '../findings/verdict.js';
import type { EnclosedCheckpoint } from '../ledger/checkpoints.js';
import { type HeaderMembers, type HeaderScheme, parseVersioned, type Schemes } from '../versions/schemes.js';
import { areCountsImpossible, areRootsPossible, isAfterPossible } from './header-rules.js';
import { RunCounts } from './run-counts.js';

/** A Merkle batch or roll-up of the package, reduced to what the checks of entries need. */
export interface Batch {
  readonly header: HeaderMembers;
  /** How the header is hashed, and what it commits to. */
  readonly scheme: HeaderScheme;
  readonly line: number;
  /** The package's own runs of streams in this batch. */
  readonly runs: readonly StreamRun[];
  /** Indexes and stream keys of the leaves shown under `streams_root`, in order. */
  readonly keys: readonly ShownKey[];
  /** The package's own streams that have no run in this batch. */
  readonly lacking: readonly string[];
  /** Verdict of the batch's own checks. */
  readonly verdict: Verdict;
  /** The check that determined the verdict, or null if the verdict is valid. */
  readonly cause: CheckId | null;
}

interface ShownKey {
  readonly index: number;
  /** `streamKey`. */
  readonly key: string;
}

/** The batches and roll-ups of a package, by number. */
export interface Batches extends ReadonlyMap<number, Batch> {
  /**
   * Numbers of headers of an unknown version. What they commit to is unknown, so they neither prove nor contradict
   * anything.
   */
  readonly unknown: ReadonlySet<number>;
  /** Whether the manifest says which streams the package has, and their keys. */
  readonly areStreamsKnown: boolean;
}

/** Members that a header of every version has (docs/evidence-format.md §17). */
const AnyHeader = z.looseObject({ number: Count });

/** Collects the batches of a package. */
class BatchTable extends Map<number, Batch> implements Batches {
  readonly unknown = new Set<number>();
  areStreamsKnown = false;
  readonly #inOrder: Batch[] = [];

  override set(number: number, batch: Batch): this {
    this.#inOrder.push(batch);
    return super.set(number, batch);
  }

  /** Yields the batches without a failed check, from the newest down to a number. */
  *backTo(number: number): Generator<Batch, void> {
    for (let i = this.#inOrder.length - 1; i >= 0; i -= 1) {
      const batch = this.#inOrder[i];
      if (batch === undefined || batch.header.number < number) return;
      if (batch.verdict !== 'invalid') yield batch;
    }
  }
}

/** A package without batches. */
export const NO_BATCHES: Batches = new BatchTable();

/**
 * Verifies every batch: its form, its order, its leaf in the ledger tree, and the runs of streams that it shows
 * (docs/evidence-format.md §6).
 * @param manifest the manifest, which names the package's streams, or null if there is none; every line shows what its
 * leaf has of these streams
 */
export async function readBatches(
  files: PackageFiles,
  newest: EnclosedCheckpoint | undefined,
  manifest: Manifest | null,
  schemes: Schemes,
): Promise<Batches> {
  const batches = new BatchTable();
  const own = ownStreams(manifest);
  batches.areStreamsKnown = own.length > 1;
  let last: HeaderMembers | null = null;
  let lastNumber = -1;
  for await (const { line, value } of files.lines(PACKAGE_FILES.batches, BatchLine, 'batch.header')) {
    const findings = new EntryFindings(files.findings, { file: PACKAGE_FILES.batches, line });
    if (batches.size + batches.unknown.size >= LIMITS.batches) {
      files.findings.fail('container.limits', finding('too-many-batches', { limit: LIMITS.batches }));
      break;
    }
    const read = readHeader(value.header, schemes, findings);
    if (read === null) continue;
    const { number } = read;
    if (number <= lastNumber)
      findings.fail('batch.header', finding('batch-out-of-order', { batch: number, previous: lastNumber }));
    const isSecond = batches.has(number) || batches.unknown.has(number);
    lastNumber = Math.max(lastNumber, number);
    if (read.header === null) {
      if (!isSecond) batches.unknown.add(number);
      continue;
    }
    const { header, scheme } = read;
    verifyOrder(header, last, findings);
    verifyPlace(read, value, newest, findings);
    verifyRuns(read, value, findings);
    if (isSecond) continue;
    last = header;
    const keys = value.streams.map(({ index, key }) => ({ index, key: toHex(key) }));
    const runs = value.streams.flatMap((shown, at) => namedRun(shown, keys[at]?.key, own) ?? []);
    const lacking = own.filter(({ key }) => isShownAbsent(keys, key, header.streams_count)).map(({ stream }) => stream);
    const about = { header, scheme, line, runs, keys, lacking };
    if (findings.verdict !== 'invalid') verifyOwnRuns(about, own, findings);
    if (findings.verdict !== 'invalid') verifyRollUp(about, batches, findings);
    batches.set(header.number, { ...about, verdict: findings.verdict, cause: findings.cause });
  }
  return batches;
}

/** A stream of the package, with the counts that its batches state. */
interface OwnStream {
  readonly stream: string;
  /** `streamKey`. */
  readonly key: string;
  readonly counts: RunCounts<number>;
}

/** Returns the package's own streams. Without a salt, the streams of the site cannot be told from others. */
function ownStreams(manifest: Manifest | null): readonly OwnStream[] {
  const salt = fromHex(manifest?.salt ?? '');
  const site = manifest?.filter.site_id;
  const streams = site === undefined || !salt?.length ? [] : [consentsStream(site), noticesStream(site)];
  const keyOf = streamKeysOf(salt ?? new Uint8Array());
  return [...streams, POLICY_STREAM].map((stream) => ({ stream, key: keyOf(stream), counts: new RunCounts() }));
}

type ShownBatch = Omit<Batch, 'verdict' | 'cause'>;

/**
 * Verifies what a leaf shows of the package's streams: a run with its neighbouring leaves, or that there is none. This
 * must agree with all other leaves, because a roll-up that states a shorter run than a batch under it would hide the
 * end of a stream.
 */
function verifyOwnRuns(batch: ShownBatch, own: readonly OwnStream[], findings: EntryFindings): void {
  const { number } = batch.header;
  const period = { from: firstCovered(number), to: number };
  for (const { stream, key, counts } of own) {
    const run = batch.runs.find((shown) => shown.stream === stream);
    if (!isPlaceShown(batch, key, run !== undefined)) {
      findings.fail('batch.streams', finding('run-neighbours-missing', { stream }));
      continue;
    }
    if (run !== undefined && period.from === 0 && run.first !== 0) {
      findings.fail('batch.streams', finding('run-begins-late', { stream, first: run.first }));
      continue;
    }
    const conflict = run === undefined ? counts.addNone(period, number) : counts.add({ ...period, ...run }, number);
    if (conflict !== null)
      findings.fail('batch.streams', finding('runs-contradict', { stream, batch: number, other: conflict.source }));
  }
}

/**
 * Returns whether the leaves on both sides of a stream's position are shown, so that the stream has at most one run.
 */
function isPlaceShown({ header, keys }: Pick<Batch, 'header' | 'keys'>, key: string, isThere: boolean): boolean {
  const count = header.streams_count;
  if (!isThere) return isShownAbsent(keys, key, count);
  const place = keys.findIndex((shown) => shown.key === key);
  const index = keys[place]?.index;
  if (index === undefined) return false;
  return areAdjacent(keys[place - 1]?.index, index, count) && areAdjacent(index, keys[place + 1]?.index, count);
}

/** Verifies that a roll-up includes the counts and streams of every batch under it that the package shows. */
function verifyRollUp({ header, keys }: ShownBatch, batches: BatchTable, findings: EntryFindings): void {
  const { number, streams_count: streams } = header;
  let [entries, tags] = [0, 0];
  /** The lowest leaf that has been counted so far. A roll-up includes what is under it. */
  let counted = number;
  for (const below of batches.backTo(firstCovered(number))) {
    const hidden = below.keys.some(({ key }) => isShownAbsent(keys, key, streams));
    if (hidden) {
      findings.fail('batch.streams', finding('roll-up-lacks-stream', { batch: number, other: below.header.number }));
      return;
    }
    if (below.header.number >= counted) continue;
    entries += below.header.count;
    tags += below.header.tags_count;
    counted = firstCovered(below.header.number);
  }
  if (entries > header.count) findings.fail('batch.header', finding('roll-up-counts-fewer', { batch: number }));
  if (tags > header.tags_count) findings.fail('batch.tags', finding('roll-up-counts-fewer', { batch: number }));
}

/** Returns whether shown leaves prove that a tree with this number of leaves lacks a key. */
function isShownAbsent(keys: readonly ShownKey[], key: string, count: number): boolean {
  const above = keys.findIndex((shown) => shown.key >= key);
  const place = above < 0 ? keys.length : above;
  return keys[place]?.key !== key && areAdjacent(keys[place - 1]?.index, keys[place]?.index, count);
}

type KnownHeader = { readonly number: number; readonly header: HeaderMembers; readonly scheme: HeaderScheme };
type ReadHeader = KnownHeader | { readonly number: number; readonly header: null };

function readHeader(text: string, schemes: Schemes, findings: EntryFindings): ReadHeader | null {
  if (text.length > LIMITS.headerLength) {
    findings.fail('batch.header', finding('header-too-long', { limit: LIMITS.headerLength }));
    return null;
  }
  const refuse = (reason: Finding): null => {
    findings.fail('batch.header', finding('header-invalid', { reason }));
    return null;
  };
  const parsed = parseVersioned(schemes.headers, text);
  if (parsed.kind === 'invalid') return refuse(parsed.reason);
  if (parsed.kind === 'unknown') {
    const any = matchShape(AnyHeader, parsed.json);
    if (!any.ok) return refuse(any.reason);
    findings.open('batch.header', unknownVersion(finding('header-version', { version: parsed.version })));
    return { number: any.value.number, header: null };
  }
  const { scheme, value: header } = parsed;
  const problem = headerProblem(header);
  if (!isCanonicalJson(text, parsed.json)) findings.fail('batch.header', finding('header-not-canonical'));
  else if (problem !== null) findings.fail('batch.header', problem);
  else findings.pass('batch.header');
  return { number: header.number, header, scheme };
}

function headerProblem(header: HeaderMembers): Finding | null {
  if (areCountsImpossible(header)) return finding('header-counts-contradict');
  return areRootsPossible(header) ? null : finding('header-empty-root');
}

function verifyOrder(header: HeaderMembers, last: HeaderMembers | null, findings: EntryFindings): void {
  if (!isAfterPossible(header)) findings.fail('batch.header', finding('after-too-large'));
  if (last === null) return;
  if (header.number <= last.number) return;
  if (header.sealed_at < last.sealed_at) findings.fail('batch.header', finding('sealed-at-decreases'));
  else if ((header.after?.size ?? 0) < (last.after?.size ?? 0)) {
    findings.fail('batch.header', finding('after-decreases'));
  }
}

function verifyPlace(
  { header, scheme }: KnownHeader,
  line: BatchLine,
  newest: EnclosedCheckpoint | undefined,
  findings: EntryFindings,
): void {
  if (newest === undefined) {
    findings.open('batch.inclusion', finding('batch-not-covered'));
    return;
  }
  const { size, root } = newest.checkpoint;
  const verdict = verifyInclusion(header.number, size, scheme.leaf(line.header), line.path, root);
  if (verdict.ok) findings.pass('batch.inclusion');
  else
    findings.fail(
      'batch.inclusion',
      finding('batch-not-in-ledger', { batch: header.number, size, reason: proofProblem(verdict.reason) }),
      findings.cause,
    );
}

/** The run of a stream of the package, or null for a neighbour. */
function namedRun(
  { start, first, last }: ShownRun,
  key: string | undefined,
  own: readonly OwnStream[],
): StreamRun | null {
  const stream = own.find((known) => known.key === key)?.stream;
  return stream === undefined ? null : { stream, start, first, last };
}

function verifyRuns({ header, scheme }: KnownHeader, { streams, hashes }: BatchLine, findings: EntryFindings): void {
  if (header.streams_count === 0) {
    if (streams.length + hashes.length > 0) findings.fail('batch.streams', finding('empty-batch-shows-streams'));
    else findings.pass('batch.streams');
    return;
  }
  const leaves = streams.map(({ index, key, ...run }) => ({ index, hash: scheme.runLeaf(key, run) }));
  const root = rootOfShown(header.streams_count, leaves, hashes);
  if (root === null || !equalBytes(root, bytesOf(header.streams_root))) {
    findings.fail('batch.streams', finding('streams-root-wrong'));
    return;
  }
  const problem = tilingProblem(header, streams);
  if (problem === null) findings.pass('batch.streams');
  else findings.fail('batch.streams', problem);
}

/** Checks that the runs are sorted by key and tile the batch. @returns the first contradiction, or null */
function tilingProblem({ count, streams_count: streams }: HeaderMembers, shown: readonly ShownRun[]): Finding | null {
  for (const [i, { index, key, ...run }] of shown.entries()) {
    const before = shown[i - 1];
    if (before !== undefined && toHex(before.key) >= toHex(key)) return finding('runs-not-sorted');
    const end = endOf(run);
    if (run.last < run.first || end > count) return finding('run-empty-or-too-long');
    if ((index === 0) !== (run.start === 0) || (index === streams - 1) !== (end === count))
      return finding('runs-wrong-sum');
    const isNext = before?.index === index - 1;
    if (isNext && run.start !== endOf(before)) return finding('runs-not-adjacent');
  }
  return null;
}

/** The index after a run. */
function endOf({ start, first, last }: RunPlace): number {
  return start + last - first + 1;
}

/** Decodes text that is known to be hex. */
function bytesOf(hex: string): Uint8Array {
  return fromHex(hex) ?? new Uint8Array();
}
