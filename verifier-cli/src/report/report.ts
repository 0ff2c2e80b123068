import type { SCAN_PROBLEMS, SiteScannedRecord } from '../../../schemas/events/site-scanned.js';
import type { ExportStatement } from '../../../schemas/evidence/manifest.js';
import type { StreamCoverage } from '../completeness/coverage.js';
import type { PersonCoverage } from '../completeness/persons.js';
import type { RecordsSummary } from '../entries/summary.js';
import type { Outcome } from '../findings/checks.js';
import type { Stated } from '../findings/finding.js';
import type { CheckResult, Warning } from '../findings/findings.js';
import type { Verdict } from '../findings/verdict.js';
import type { ReportedPromise } from '../promises/promised-records.js';
import type { ReportedTime } from '../rendering/times-text.js';
import type { ReportedOperator } from './operator-statements.js';

/** Time until which a stamp is sound without a newer stamp over it. */
export interface ReportedEnd extends Omit<Stated, 'message'> {
  readonly date: string;
  /** The message in English. */
  readonly reason: string;
}

export interface ReportedStamp {
  readonly checkpoint: number;
  /** Name of the response file. */
  readonly file: string;
  readonly outcome: 'pass' | 'fail' | 'indeterminate';
  /** Time that the token claims. It is only proved if the outcome is `pass`. */
  readonly time: string | null;
  /** Subject of the signer's certificate. */
  readonly authority: string | null;
  /**
   * Organization of the trust anchor. Stamps with the same organization come from the same authority. Null if no chain
   * was found.
   */
  readonly organization: string | null;
  readonly revocation: string;
  readonly sound_until: ReportedEnd | null;
  /**
   * The newer stamp at whose time this one was evaluated, because its algorithms are no longer sound: a batch below its
   * checkpoint names this response. Null if no newer stamp was needed.
   */
  readonly renewed_by: { readonly checkpoint: number; readonly time: string } | null;
}

/** A text that was consented to, as enclosed in the package. */
export interface ReportedText {
  readonly document_version_id: string;
  /** Hex SHA-256 of its bytes. */
  readonly sha256: string;
  readonly language: string;
  /** Title that the publication states. This and the next three members are null if the publication is not enclosed. */
  readonly title: string | null;
  readonly number: number | null;
  readonly media_type: string | null;
  readonly published_at: string | null;
  /** Whether the text and its publication are proved. */
  readonly outcome: Outcome;
  /**
   * The text itself, or null if it is missing, changed, longer than `MAX_TEXT_BYTES` or not UTF-8.
   */
  readonly source: string | null;
}

/** Filter of the package, as its manifest states it. */
export interface ReportedFilter {
  readonly from: string | null;
  readonly to: string | null;
  readonly consent_type: string | null;
  readonly document_version_id: string | null;
  /** Number of records that were chosen by their ids, or null if none were. */
  readonly event_ids: number | null;
  /** Number of records of the person in the ledger according to the manifest, or null if it states no number. */
  readonly person_records: number | null;
  /** How many persons were requested. They are not named. */
  readonly persons: number;
  readonly disclose: 'all' | 'none' | readonly string[];
}

/** The policy of the ledger for the newest batch of the package. */
export interface ReportedPolicy {
  /** Number in the policy's event, or null if the package includes none, and the defaults apply. */
  readonly number: number | null;
  readonly seal_within_seconds: number;
  readonly stamp_within_seconds: number;
}

/** Authorities and witnesses of the newest checkpoint, and the numbers that the policy requires for it. */
export interface ReportedNewest {
  /** Size of the checkpoint, or null if the package includes none. */
  readonly checkpoint: number | null;
  /** Distinct authorities with a valid time stamp over the checkpoint. */
  readonly authorities: number;
  /** The number that the policy requires. While a lowered number has not taken effect, this is the previous one. */
  readonly authorities_demanded: number;
  /** Given witnesses with a valid cosignature over the checkpoint. */
  readonly witnesses: number;
  readonly witnesses_demanded: number;
}

/** Names that were found, of which the first `MAX_SCAN_NAMES` are listed. */
export interface ReportedNames {
  readonly count: number;
  readonly first: readonly string[];
}

/** A recorded scan of a page. Its findings are a statement of the service. */
export interface ReportedScan {
  readonly event_id: string;
  readonly verdict: Verdict;
  /** The time that the service claims. */
  readonly recorded_at: string;
  /** When the record existed, or null if it is not proved. */
  readonly existed_by: ReportedTime | null;
  readonly url: string;
  readonly method: SiteScannedRecord['method'];
  /** Whether the page was opened with Global Privacy Control. */
  readonly signal: boolean;
  /** The choices with which the page was visited. */
  readonly choices: readonly SiteScannedRecord['visits'][number]['choice'][];
  /**
   * The configuration that the page was compared with, or null if none was published. `number` is null if the package
   * does not have it.
   */
  readonly configuration: { readonly sha256: string; readonly number: number | null } | null;
  /** The names with each problem. */
  readonly problems: readonly (ReportedNames & { readonly problem: (typeof SCAN_PROBLEMS)[number] })[];
  readonly third_party_hosts: ReportedNames;
  /** False if a visit was cut short or the record omits something. */
  readonly is_whole: boolean;
}

export interface ReportedScans {
  readonly count: number;
  readonly verdicts: Readonly<Record<Verdict, number>>;
  /** At most `MAX_SCANS`, the newest last. */
  readonly newest: readonly ReportedScan[];
}

/** The site and its controller. */
export interface ReportedSite {
  readonly domain: string;
  /** Legal name of the controller. */
  readonly controller: string;
  readonly contact: string;
}

/** Coverage of one stream, with at most `MAX_LISTED` of its runs. */
export interface ReportedCoverage extends StreamCoverage {
  /** Number of runs of which no revision is missing. */
  readonly complete_runs: number;
}

/** A root certificate that the relying party gave. */
export interface ReportedRoot {
  /** Subject of the certificate. */
  readonly subject: string;
  /** SHA-256 of its DER encoding, in hex. */
  readonly sha256: string;
}

/** A report without the sentences that are derived from it. */
export type ReportFacts = Omit<VerificationReport, 'proves' | 'not_proved'>;

/** Report of the verifier: the object that `--json` prints. */
export interface VerificationReport {
  readonly format: 'consent-verify-report';
  readonly version: 1;
  /** The program that made the report. */
  readonly verifier: { readonly name: 'consent-verify'; readonly version: string };
  /** Keys and roots that the relying party gave, on which the verdict depends. */
  readonly trust: {
    /** Verifier keys of the ledger. */
    readonly ledger_keys: readonly string[];
    readonly roots: readonly ReportedRoot[];
  };
  readonly verdict: Verdict;
  /** The valid stamp over the package's checkpoint: later events are unknown. Null if none is. */
  readonly as_of: ReportedTime | null;
  readonly checks: readonly CheckResult[];
  readonly package: {
    readonly origin: string | null;
    readonly site_id: string | null;
    readonly exported_at: string | null;
    readonly exported_by: string | null;
    /** What the package states of its making, or null if it states nothing. */
    readonly export: ExportStatement | null;
    /**
     * True if a development authority stamped the ledger, according to the manifest or the certificates. Then the
     * package is not evidence.
     */
    readonly development: boolean | null;
    readonly checkpoint: number | null;
    readonly not_yet_stamped: number | null;
    /**
     * Site and controller in the proved configuration that the newest consent refers to. Null if no such configuration
     * is proved.
     */
    readonly site: ReportedSite | null;
    readonly filter: ReportedFilter | null;
    /**
     * The person whose records these are, as `visitor_id` of a record names the person. Null if no record does, or if
     * the package is not about one person. A long value is cut.
     */
    readonly person: string | null;
    /** The person that the relying party asked about, or null if none was asked about. */
    readonly asked_person: string | null;
  };
  /**
   * How much of each stream is provably present, or null if the manifest cannot be read. At most `MAX_LISTED` runs
   * each.
   */
  readonly coverage: {
    readonly consents: ReportedCoverage;
    readonly notices: ReportedCoverage;
    readonly person: PersonCoverage;
  } | null;
  readonly policy: ReportedPolicy;
  /** What that policy states of the operator, or null if the package is invalid. */
  readonly operator: ReportedOperator | null;
  readonly newest: ReportedNewest;
  readonly records: RecordsSummary;
  /** The proved times between which the batches of the package were sealed. */
  readonly proved: {
    /** Every batch was sealed after this time, or null if a batch has no proved start. */
    readonly not_before: ReportedTime | null;
    /** The earliest end of a batch's interval. */
    readonly earliest: ReportedTime | null;
    /** Everything in the package existed by this time, or null if a batch has too few valid stamps. */
    readonly not_after: ReportedTime | null;
    /** How many distinct authorities must have stamped every batch. */
    readonly required_stamps: number;
    readonly batches: number;
    /** Number of batches that are covered by valid stamps of too few authorities. */
    readonly batches_without_stamp: number;
    /** The intervals of the first batches. */
    readonly intervals: readonly {
      readonly batch: number;
      readonly after: ReportedTime | null;
      readonly before: ReportedTime | null;
    }[];
  };
  readonly stamps: { readonly count: number; readonly first: readonly ReportedStamp[] };
  /** Cosignatures over the newest checkpoint. */
  readonly witnesses: {
    /** Size of the newest checkpoint, or null if the package includes none. */
    readonly checkpoint: number | null;
    /** How many given witnesses the relying party or the policy requires. Null permits any number. */
    readonly required: number | null;
    /** Given witnesses whose cosignature is valid, and the time that each one states. */
    readonly cosigned: readonly { readonly name: string; readonly time: string }[];
    /** Names of the given witnesses without a valid cosignature. */
    readonly missing: readonly string[];
    /** Number of cosignatures by keys that were not given. */
    readonly others: number;
  };
  /** The given promises, in their order. */
  readonly promises: readonly ReportedPromise[];
  readonly sound_until: ReportedEnd | null;
  readonly warnings: { readonly count: number; readonly first: readonly Warning[] };
  /** The first `MAX_TEXTS` of the texts that were consented to. */
  readonly texts: { readonly count: number; readonly first: readonly ReportedText[] };
  /** The recorded scans of the site's pages. */
  readonly scans: ReportedScans;
  /** Statements that the package proves, as readable text. Empty if a check failed. */
  readonly proves: readonly string[];
  /** Statements that the evidence does not prove, independent of the verdict. */
  readonly not_proved: readonly string[];
  /** Units of work (docs/evidence-format.md §14). */
  readonly work: { readonly done: number; readonly limit: number };
  readonly verified_at: string;
}

/** How many batches and stamps a report lists individually. */
export const MAX_LISTED = 100;
/** How many texts a report holds. */
export const MAX_TEXTS = 20;
/** How many recorded scans a report describes, and how many names of each kind. */
export const MAX_SCANS = 20;
export const MAX_SCAN_NAMES = 20;
/** Maximum number of bytes of a text that a report holds. */
export const MAX_TEXT_BYTES = 256 * 1024;
