import { toHex } from '../../../schemas/crypto/encoding.js';
import { consentToken } from '../../../schemas/events/consent-recorded.js';
import { isConsentType } from '../../../schemas/events/sealed-event.js';
import type { SiteConfigPublishedRecord } from '../../../schemas/events/site-config.js';
import { SITE_SCANNED, SiteScannedRecord } from '../../../schemas/events/site-scanned.js';
import type { SubjectErasedRecord } from '../../../schemas/events/subject-erased.js';
import { decodeDisclosure } from '../../../schemas/evidence/disclosure.js';
import { BatchLine, PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import type { PersonOpening } from '../../../schemas/evidence/person-tag.js';
import type { JsonValue } from '../../../schemas/json/json-value.js';
import { inclusionRanges } from '../../../schemas/merkle/proofs.js';
import type { Batch } from '../batches/batches.js';
import { reportedScan, type ScanContext } from '../documents/site-scans.js';
import type { ReadEntry } from '../entries/read-entry.js';
import type { PackageFiles } from '../files/package-files.js';
import { matchShape } from '../files/parse.js';
import type { CheckId, Outcome } from '../findings/checks.js';
import type { EntryNote } from '../findings/entry-findings.js';
import { type Stated, wordsOf } from '../findings/finding.js';
import type { Warning } from '../findings/findings.js';
import { type Verdict, worst } from '../findings/verdict.js';
import type { EnclosedCheckpoint } from '../ledger/checkpoints.js';
import type { ListedConsent } from '../list/listed-consent.js';
import type { Policies } from '../policy/policies.js';
import type { ReportedTime } from '../rendering/times-text.js';
import { reportedTime } from '../report/build-report.js';
import { type ReportedOperator, reportedOperator } from '../report/operator-statements.js';
import type { ReportedNewest, ReportedScan, ReportedText } from '../report/report.js';
import type { SealingInterval } from '../time/batch-times.js';
import type { ProvedTime } from '../time/stamped-times.js';
import type { Stamps } from '../timestamps/stamp.js';
import { memberOf, type RecordScheme, type Schemes, select } from '../versions/schemes.js';

import { type ShownAttachment, shownAttachments } from './shown-attachments.js';

/** A step of an audit path (RFC 9162 §2.1.3): the running hash is combined with this one, as left or right child. */
export interface PathStep {
  readonly side: 'left' | 'right';
  /** Hex. */
  readonly hash: string;
}

/** The worst outcome of one check of the record, with all findings of the check. */
export interface ShownCheck {
  readonly id: CheckId;
  readonly outcome: Outcome;
  /** The message in English. */
  readonly messages: readonly string[];
  readonly findings: readonly Stated[];
}

/** One record with everything that it depends on: the object that `show --json` prints. */
export interface ShownRecord {
  readonly format: 'consent-verify-record';
  readonly version: 1;
  /** Verdict on this record, including everything in the package that it depends on. */
  readonly verdict: Verdict;
  readonly package_verdict: Verdict;
  /** The verified file, and the time at which the service claims to have exported it, or null if it cannot be read. */
  readonly file: { readonly kind: 'package' | 'receipt'; readonly exported_at: string | null };
  /** The valid stamp over the package's checkpoint: later events are unknown. Null if none is. */
  readonly as_of: ReportedTime | null;
  readonly newest: ReportedNewest;
  /** True if a development authority stamped the ledger. Then the record is not evidence. */
  readonly development: boolean;
  /** Whether a root certificate was given: without one, no time stamp is checked. */
  readonly root_given: boolean;
  /** Warnings about this record, and about the whole package, in English. */
  readonly warnings: readonly string[];
  /** The same warnings, with codes. */
  readonly warning_findings: readonly Stated[];
  readonly event_id: string;
  /** Null for an event that is not a consent. */
  readonly consent_token: string | null;
  readonly type: string;
  readonly stream: string;
  readonly revision: number;
  readonly proof_hash: string | null;
  /** The public part. */
  readonly record: JsonValue;
  readonly disclosed: readonly { readonly name: string; readonly value: JsonValue }[];
  /** The files of the person that the values name, as far as they are intact. */
  readonly attachments: readonly ShownAttachment[];
  /** Number of values that are not shown. */
  readonly withheld: number;
  readonly erased: boolean;
  /** Whether the service states that it lost the key of the values. */
  readonly key_lost: boolean;
  /** The event by which the personal values were erased, or null if the package has none. */
  readonly erasure: ShownErasure | null;
  /**
   * The next record of the same person and type in the package, or null if it has none or does not show the person.
   */
  readonly superseded_by: ListedConsent['superseded_by'];
  /** Opening of the person tag, in a receipt that names the person. Null otherwise. */
  readonly person: PersonOpening | null;
  /** The tag in hex, or null for an event that is neither a consent nor an erasure. */
  readonly person_tag: string | null;
  readonly text: ReportedText | null;
  /** What the policy in force for the record states of the operator, or null if the record is invalid. */
  readonly operator: ReportedOperator | null;
  /** The site's configuration that the record names, or null if its check fails, or if it cannot be read. */
  readonly configuration: SiteConfigPublishedRecord | null;
  /** Findings of a recorded scan of a page, or null for other events, and if it cannot be read. */
  readonly scan: ReportedScan | null;
  /** Both are null if the record is invalid, because the times are those of a batch that may not contain it. */
  readonly proved: { readonly after: ReportedTime | null; readonly before: ReportedTime | null };
  readonly proof: {
    readonly line: number;
    readonly leaf: string;
    readonly batch: number;
    readonly index: number;
    readonly count: number | null;
    readonly batch_path: readonly PathStep[] | null;
    readonly batch_root: string | null;
    readonly header_leaf: string | null;
    readonly ledger_path: readonly PathStep[] | null;
    readonly checkpoint: { readonly size: number; readonly root: string; readonly file: string } | null;
    /** The stamp at which the interval ends. */
    readonly stamp: { readonly checkpoint: number; readonly file: string; readonly authority: string | null } | null;
  };
  readonly checks: readonly ShownCheck[];
}

/** An erasure that names the record, as read from the package. */
export interface SeenErasure {
  readonly event_id: string;
  /** Time that the service claims for the announcement. The key was destroyed before. */
  readonly announced_at: string;
  readonly reason: SubjectErasedRecord['reason'];
  readonly batch: number;
  /** Verdict on the scan's own entry. */
  readonly verdict: Verdict;
  /** Whether the mark of the record points to it. */
  readonly isMarked: boolean;
}

/** An erasure with its proved time. */
export interface ShownErasure extends Omit<SeenErasure, 'batch' | 'isMarked'> {
  /** Time by which the announcement existed, or null if it is not proved, or if its entry is not valid. */
  readonly existed_by: ReportedTime | null;
}

/** Parts of a package that determine the place of a record. */
export interface ShowContext {
  readonly files: PackageFiles;
  readonly batches: ReadonlyMap<number, Batch>;
  readonly intervals: readonly SealingInterval[];
  readonly stamps: Stamps;
  readonly policies: Policies;
  readonly newest: EnclosedCheckpoint | undefined;
  /** Verdict of the checks that every record depends on. */
  readonly foundation: Verdict;
  readonly packageVerdict: Verdict;
  readonly kind: ShownRecord['file']['kind'];
  /** `exported_at` of the manifest, or null if it cannot be read. */
  readonly exportedAt: string | null;
  readonly asOf: ProvedTime | null;
  readonly newestCheckpoint: ReportedNewest;
  readonly isDevelopment: boolean;
  readonly isRootGiven: boolean;
  readonly warnings: readonly Warning[];
  /** The consents of the package, if they were listed. */
  readonly listed: readonly ListedConsent[];
  readonly schemes: Schemes;
  readonly configurationNumber: ScanContext['configurationNumber'];
}

/** Data about the record that `RecordWatch` collected while the package was verified. */
export interface WatchedRecord {
  readonly notes: readonly EntryNote[];
  readonly read: ReadEntry | null;
  readonly path: readonly Uint8Array[] | null;
  readonly text: ReportedText | null;
  readonly configuration: SiteConfigPublishedRecord | null;
  readonly isErased: boolean;
  readonly erasure: SeenErasure | null;
  readonly verdict: Verdict;
}

/** Assembles what was found about the watched record, or null if it is not in the package. */
export async function shownRecord(watch: WatchedRecord, context: ShowContext): Promise<ShownRecord | null> {
  const { read } = watch;
  if (read === null) return null;
  const { entry, source } = read;
  const selected = select(context.schemes.records, memberOf(read.record, 'hash_version'));
  const { type } = entry;
  const scheme = isConsentType(type) && selected.isKnown ? selected.scheme : null;
  const consent = scheme !== null && isConsentType(type) ? matchShape(scheme.shapes[type], read.record) : null;
  const digests = consent?.ok === true ? Object.values(consent.value.disclosures) : [];
  const disclosed = scheme === null ? [] : disclosedValues(source.disclosures, digests, scheme);
  const interval = context.intervals.find(({ batch }) => batch === source.batch);
  const before = interval?.before ?? null;
  const after = interval?.after ?? null;
  const stamp = before === null ? undefined : context.stamps.find(({ file }) => file === before.file);
  const verdict = worst(watch.verdict, context.foundation);
  const isPlaced = verdict !== 'invalid' && context.batches.has(source.batch);
  const warnings = context.warnings.filter(({ event_id: id }) => id === undefined || id === entry.event_id);
  return {
    format: 'consent-verify-record',
    version: 1,
    verdict,
    package_verdict: context.packageVerdict,
    file: { kind: context.kind, exported_at: context.exportedAt },
    as_of: context.asOf && reportedTime(context.asOf),
    newest: context.newestCheckpoint,
    development: context.isDevelopment,
    root_given: context.isRootGiven,
    warnings: warnings.map(({ message }) => message),
    warning_findings: warnings.map(wordsOf),
    event_id: entry.event_id,
    consent_token: isConsentType(type) ? consentToken(entry.event_id) : null,
    type,
    stream: entry.stream,
    revision: entry.revision,
    proof_hash: entry.proof_hash,
    record: read.record,
    disclosed,
    attachments: await shownAttachments(context.files, disclosed),
    withheld: digests.length - disclosed.length,
    erased: watch.isErased,
    key_lost: source.key_lost === true,
    erasure: watch.erasure && shownErasure(watch.erasure, context.intervals),
    superseded_by: context.listed.find(({ event_id: id }) => id === entry.event_id)?.superseded_by ?? null,
    person: source.person ?? null,
    person_tag: entry.person_tag,
    text: watch.text,
    operator:
      verdict === 'invalid'
        ? null
        : reportedOperator(context.policies.inForceAt(source.batch), stamp === undefined ? [] : [stamp]),
    configuration: watch.configuration,
    scan: shownScan(read, verdict, context),
    proved: {
      after: isPlaced && after !== null ? reportedTime(after) : null,
      before: isPlaced && before !== null ? reportedTime(before) : null,
    },
    proof: {
      ...(await proofOf(read, watch.path, context)),
      stamp:
        stamp === undefined
          ? null
          : { checkpoint: stamp.size, file: stamp.file, authority: stamp.report.signer?.subject ?? null },
    },
    checks: checksOf(watch.notes),
  };
}

function shownScan({ entry, record, source }: ReadEntry, verdict: Verdict, context: ShowContext): ReportedScan | null {
  const scan = entry.type === SITE_SCANNED ? matchShape(SiteScannedRecord, record) : null;
  return scan?.ok ? reportedScan({ record: scan.value, batch: source.batch, verdict }, context) : null;
}

function shownErasure(
  { batch: number, isMarked: _, ...erasure }: SeenErasure,
  intervals: readonly SealingInterval[],
): ShownErasure {
  const before = intervals.find(({ batch }) => batch === number)?.before ?? null;
  return { ...erasure, existed_by: before !== null && erasure.verdict === 'valid' ? reportedTime(before) : null };
}

/** The values that the record commits to. */
function disclosedValues(
  texts: readonly string[],
  digests: readonly string[],
  { disclosureDigest }: RecordScheme,
): { name: string; value: JsonValue }[] {
  const committed = [...new Set(texts)].filter((text) => digests.includes(disclosureDigest(text)));
  return committed.flatMap((text) => {
    const disclosure = decodeDisclosure(text);
    return disclosure === null ? [] : [{ name: disclosure.name, value: disclosure.value }];
  });
}

async function proofOf(
  { entry: _, source, leaf, line }: ReadEntry,
  path: readonly Uint8Array[] | null,
  { files, batches, newest }: ShowContext,
): Promise<Omit<ShownRecord['proof'], 'stamp'>> {
  const batch = batches.get(source.batch);
  const enclosed = batch === undefined ? null : await readBatchLine(files, batch.line);
  return {
    line,
    leaf,
    batch: source.batch,
    index: source.index,
    count: batch?.header.count ?? null,
    batch_path: batch === undefined || path === null ? null : steps(path, source.index, batch.header.count),
    batch_root: batch?.header.root ?? null,
    header_leaf: enclosed === null || batch === undefined ? null : toHex(batch.scheme.leaf(enclosed.header)),
    ledger_path:
      enclosed === null || newest === undefined ? null : steps(enclosed.path, source.batch, newest.checkpoint.size),
    checkpoint:
      newest === undefined
        ? null
        : { size: newest.checkpoint.size, root: toHex(newest.checkpoint.root), file: newest.file },
  };
}

/**
 * Reads one line again, because keeping the paths of all batches would take too much memory. Problems of the file were
 * already reported.
 */
async function readBatchLine(files: PackageFiles, wanted: number): Promise<BatchLine | null> {
  const again = files.unreported();
  for await (const { line, value } of again.lines(PACKAGE_FILES.batches, BatchLine, 'batch.header'))
    if (line === wanted) return value;
  return null;
}

function steps(path: readonly Uint8Array[], index: number, size: number): PathStep[] | null {
  const ranges = inclusionRanges(index, size);
  if (index >= size || ranges.length !== path.length) return null;
  return path.map((hash, i) => ({ side: (ranges[i]?.start ?? 0) > index ? 'right' : 'left', hash: toHex(hash) }));
}

const RANK: Readonly<Record<Outcome, number>> = { fail: 0, indeterminate: 1, pass: 2, 'not-applicable': 3 };

/** The outcomes by check, the worst of each. */
function checksOf(notes: readonly EntryNote[]): ShownRecord['checks'] {
  const byId = new Map<CheckId, { outcome: Outcome; findings: Stated[] }>();
  for (const { id, outcome, ...found } of notes) {
    const known = byId.get(id);
    const findings = found.message === '' ? [] : [found];
    if (known === undefined) byId.set(id, { outcome, findings });
    else {
      if (RANK[outcome] < RANK[known.outcome]) known.outcome = outcome;
      known.findings.push(...findings);
    }
  }
  return [...byId].map(([id, { outcome, findings }]) => ({
    id,
    outcome,
    messages: findings.map(({ message }) => message),
    findings,
  }));
}
