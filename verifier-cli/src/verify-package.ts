import { isReceipt, type Manifest } from '../../schemas/evidence/manifest.js';
import { PACKAGE_FILES } from '../../schemas/evidence/package-lines.js';
import type { VerifierKey } from '../../schemas/evidence/signed-note.js';
import { readBatches } from './batches/batches.js';
import { readAnnouncements } from './batches/enclosed-announcements.js';
import { startsAsZip } from './container/archive.js';
import type { ByteSource } from './container/byte-source.js';
import { PackageFiles } from './files/package-files.js';
import { type Container, openContainer } from './files/receipt.js';
import { CHECK_IDS } from './findings/checks.js';
import { englishText, type Finding, finding } from './findings/finding.js';
import { Findings } from './findings/findings.js';
import { worst } from './findings/verdict.js';
import { readCheckpoints } from './ledger/checkpoints.js';
import { verifyCheckpointConsistency } from './ledger/consistency.js';
import { verifyLedgerKey } from './ledger/ledger-key.js';
import { verifyWitnesses } from './ledger/witnesses.js';
import type { ConsentList } from './list/consent-list.js';
import { verifyCounts } from './manifest/counts.js';
import { verifyExportTime } from './manifest/export-time.js';
import { verifyFileList } from './manifest/file-list.js';
import { readManifest } from './manifest/manifest.js';
import { verifyManifestSignature } from './manifest/signature.js';
import { readPolicies } from './policy/policies.js';
import { evaluatePromises, type GivenPromise, PromisedRecords } from './promises/promised-records.js';
import { verifyEntries } from './records/verify-entries.js';
import { buildReport, isDevelopment, reportedNewest } from './report/build-report.js';
import type { VerificationReport } from './report/report.js';
import type { RecordWatch } from './show/record-watch.js';
import { shownRecord } from './show/shown-record.js';
import { PolicyDelays } from './time/allowed-delays.js';
import { verifyBatchTimes } from './time/batch-times.js';
import { verifyFreshness } from './time/freshness.js';
import { stampedTimes } from './time/stamped-times.js';
import { verifyTimestamps } from './timestamps/timestamps.js';
import type { WitnessTrust } from './trust/quorum.js';
import { SCHEMES, type Schemes } from './versions/schemes.js';
import { reportExceeded, WorkMeter } from './work/work-meter.js';

/** The trust and the limits that the relying party sets. None of this comes from the package. */
export interface VerifyOptions {
  /** DER certificates of time stamp authorities. */
  readonly trustAnchors: readonly Uint8Array[];
  readonly ledgerKeys: readonly VerifierKey[];
  /** Witnesses of the ledger; the default is none. */
  readonly witnesses?: WitnessTrust;
  /**
   * How much later than the claimed time a stamp may be, in milliseconds. This limit can only be stricter than the
   * ledger's policy.
   */
  readonly maxDelay?: number;
  /** Milliseconds: see `FreshnessLimits`. */
  readonly maxAge?: number;
  /** How many distinct authorities must have stamped every entry; the default is 1. */
  readonly requireStamps?: number;
  /** Promises of the service to check against the package; the default is none. */
  readonly promises?: readonly GivenPromise[];
  /** The person whose records the package must have, named by `visitor_id`; by default, none. */
  readonly person?: string;
  /** How each version of entries, batch headers and records is read; the default is `SCHEMES`. */
  readonly schemes?: Schemes;
  /** The time of verification. */
  readonly at: Date;
  /** Maximum number of units of work for the package. This limit can only be stricter than the limit of the format. */
  readonly maxWork?: number;
  /** Called with the number of bytes read and the total. */
  readonly onProgress?: (readBytes: number, totalBytes: number) => void;
}

const NO_WITNESSES: WitnessTrust = { keys: [], required: null };

/** Collectors of parts of the package during the verification, in addition to the report. */
export interface Collectors {
  /** Collects one record, to be shown alone. */
  readonly watch?: RecordWatch | null;
  /** Collects all consents, to be listed. */
  readonly list?: ConsentList | null;
}

/** A file that is not a ZIP with a manifest, so nothing can be said about it. */
export class NotAPackage extends Error {
  override readonly name = 'NotAPackage';

  constructor(readonly reason: Finding) {
    super(englishText(reason));
  }
}

/**
 * Checks that every record depends on and that precede the entries. Batches, and the stamps that their headers name,
 * only affect their own records.
 */
const FOUNDATION = CHECK_IDS.filter(
  (id) => id !== 'time.start' && /^(?:container|manifest|ledger|tst|time)\./.test(id),
);
const CONTAINER = CHECK_IDS.filter((id) => /^(?:container|manifest)\./.test(id));

/**
 * Verifies an evidence package offline (docs/evidence-format.md §12, §13). Every byte of it may be hostile. Problems go
 * to the report and do not stop other checks that are still possible.
 * @throws NotAPackage; UnknownFormatVersion; errors of the source
 */
export async function verifyPackage(
  source: ByteSource,
  options: VerifyOptions,
  { watch = null, list = null }: Collectors = {},
): Promise<VerificationReport> {
  const findings = new Findings();
  const { schemes = SCHEMES } = options;

  // Container (docs/evidence-format.md §3, §14): exactly one way to read it, names, limits.
  const container = await openContainer(source, findings);
  if (container === null)
    throw new NotAPackage((await startsAsZip(source)) ? finding('file-cut-off') : finding('file-not-zip'));
  const { archive, kind } = container;
  if (!container.hasManifest) {
    const wrong = findings.results().find(({ outcome }) => outcome === 'fail');
    throw new NotAPackage(
      wrong === undefined
        ? finding('file-without-manifest')
        : finding('file-manifest-unreadable', { detail: wrong.message }),
    );
  }
  const total = [...archive.values()].reduce((sum, file) => sum + file.size, 0);
  let read = 0;
  const work = new WorkMeter(source.size, reportExceeded(findings), options.maxWork);
  const progress = (bytes: number): void => {
    read += bytes;
    options.onProgress?.(read, total);
  };

  const files = new PackageFiles(container.source, archive, findings, progress, work);

  // The manifest (§10) and the ledger (§6, §7): a single history.
  const signed = await readManifest(files);
  const { manifest } = signed;
  verifyKind(kind, manifest, findings);
  const checkpoints = await readCheckpoints(files, manifest);
  const tied = await verifyCheckpointConsistency(files, checkpoints);
  const newest = [...checkpoints.values()].at(-1);
  const batches = await readBatches(files, newest, manifest, schemes);
  const { policies, announced } = await readPolicies(files, batches, schemes);

  // Who made the statements: the ledger's keys and their successors (§8), witnesses (§7.1) and time stamps (§9, RFC
  // 3161).
  const chain = await readAnnouncements(files, checkpoints, announced);
  const trusted = await verifyLedgerKey(files, checkpoints, chain, manifest, options.ledgerKeys, options.at);
  await verifyManifestSignature(files, signed, trusted, options.at);
  const { witnessesRequired } = policies.inForceAt((newest?.checkpoint.size ?? 1) - 1);
  const trustedWitnesses = options.witnesses ?? NO_WITNESSES;
  const witnessed = await verifyWitnesses(files, checkpoints, trustedWitnesses, options.at, witnessesRequired);
  const stamps = await verifyTimestamps(files, checkpoints, options, { tied, batches });
  const times = stampedTimes(stamps, tied, { policies, atLeast: options.requireStamps ?? 1 }, findings);
  // Batches without an entry are included only for their headers and affect no record.
  const holds = (batch: number): boolean => files.has(PACKAGE_FILES.proofs(batch));
  const intervals = verifyBatchTimes({ batches, stamps, times, policies, holds, findings, work });
  if (manifest !== null) verifyExportTime(manifest, times, findings);
  const asOf = times.all.find(({ size }) => size === newest?.checkpoint.size) ?? null;
  verifyFreshness(manifest, asOf, options, findings);

  const foundation = findings.verdict(FOUNDATION);

  // The entries (§4, §5, §11): form, chain, position, time, disclosures, documents, erasures, completeness.
  const promised = new PromisedRecords(options.promises ?? []);
  const { summary, texts, site, scansFor, configurationNumber, coverage, person, visitor, named } = await verifyEntries(
    files,
    {
      manifest,
      batches,
      size: newest?.checkpoint.size ?? null,
      times,
      intervals,
      policies,
      maxDelay: options.maxDelay,
      watch,
      list,
      promised,
      schemes,
      askedPerson: options.person ?? null,
    },
  );

  // What the manifest states about all of this (§10).
  verifyCounts(manifest, summary, archive, findings);
  await verifyFileList(files, manifest, named);
  const promises = await evaluatePromises(promised, {
    keys: trusted.keys,
    origin: newest?.checkpoint.origin ?? null,
    coverage,
    batches,
    size: newest?.checkpoint.size ?? null,
    asOf,
    delays: new PolicyDelays({ policies, existedBy: (batch) => times.endOf(batch) }),
    policies,
    at: options.at,
    findings,
  });

  const dependedOn = worst(foundation, findings.verdict(CONTAINER));
  list?.finish(dependedOn, (manifest?.filter.person ?? null) !== null);
  if (watch !== null) {
    watch.shown = await shownRecord(watch, {
      files,
      batches,
      intervals,
      stamps,
      policies,
      newest,
      foundation: dependedOn,
      packageVerdict: findings.verdict(),
      kind,
      exportedAt: manifest?.exported_at ?? null,
      asOf,
      newestCheckpoint: reportedNewest(witnessed, times),
      isDevelopment: isDevelopment(stamps) || manifest?.development === true,
      isRootGiven: options.trustAnchors.length > 0,
      warnings: findings.warnings.first,
      listed: list?.listing.consents ?? [],
      schemes,
      configurationNumber,
    });
  }
  const holding = intervals.filter(({ batch }) => holds(batch));
  return buildReport({
    findings,
    manifest,
    summary,
    coverage,
    person,
    visitor,
    intervals: holding,
    stamps,
    witnessed,
    times,
    texts,
    scans: scansFor({ intervals, foundation: dependedOn }),
    site,
    asOf,
    promises,
    given: options,
    at: options.at,
    work,
    policy: policies.inForceAt(holding.at(-1)?.batch ?? 0),
  });
}

/**
 * Verifies the kind of the file (§16). A receipt shows one record and says nothing about others, so a package must not
 * pass for one in order to leave records out.
 */
function verifyKind(kind: Container['kind'], manifest: Manifest | null, findings: Findings): void {
  if (manifest === null) return;
  const at = { file: PACKAGE_FILES.manifest };
  if (isReceipt(manifest) !== (kind === 'receipt'))
    findings.fail('manifest.format', finding('manifest-of-other-kind'), at);
  if (kind !== 'receipt') return;
  if (manifest.complete.length > 0 || manifest.filter.event_ids?.length !== 1)
    findings.fail('manifest.format', finding('receipt-of-one-record'), at);
  findings.warn(finding('receipt-notice'));
}
