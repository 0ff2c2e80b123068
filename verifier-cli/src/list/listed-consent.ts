import type { SCOPES } from '../../../schemas/events/consent-recorded.js';
import type { JsonValue } from '../../../schemas/json/json-value.js';
import type { Verdict } from '../findings/verdict.js';

/** One consent of a package, as a list shows it. Every text may come from the package. */
export interface ListedConsent {
  /** Line of `entries.ndjson`, from 1. */
  readonly line: number;
  readonly event_id: string;
  readonly consent_token: string;
  readonly stream: string;
  readonly revision: number;
  /** Verdict on this record, including everything in the package that it depends on. */
  readonly verdict: Verdict;
  /** Time that the service claims, RFC 3339, or null if the record cannot be read. */
  readonly recorded_at: string | null;
  /**
   * Time by which the record existed, as time stamp authorities prove it, or null if they do not, or if the record is
   * invalid.
   */
  readonly existed_by: string | null;
  /** Former tool of an imported consent, and the time that it states, or null if it was recorded here. */
  readonly imported: { readonly from: string; readonly claimed_at: string } | null;
  readonly consent_type: string | null;
  readonly decision: string | null;
  /** Whose choice it is; of a record that does not state it, that of a device. Null if the record cannot be read. */
  readonly scope: (typeof SCOPES)[number] | null;
  readonly document_version_id: string | null;
  readonly language: string | null;
  /** Title and version of the text as they were published, or null if the package does not show it. */
  readonly text: { readonly title: string; readonly number: number } | null;
  /** Personal values that the package discloses, by name. */
  readonly disclosed: Readonly<Record<string, JsonValue>>;
  readonly erased: boolean;
  /** The best verdict on an erasure in the package that names the record, or null if none does. */
  readonly erasure_verdict: Verdict | null;
  /**
   * The next record in the package of the same person with the same consent type that is not invalid: it supersedes
   * this record. Only an account supersedes the choice of an account. Null if the package has none, or does not show the person.
   */
  readonly superseded_by: {
    readonly event_id: string;
    readonly decision: string | null;
    readonly verdict: Verdict;
    /** When it was made, as it states itself. */
    readonly claimed_at: string | null;
  } | null;
}

/** The consents of a package, in the order of the ledger. */
export interface ConsentListing {
  readonly consents: readonly ListedConsent[];
  /** Number of consents in the package, including those beyond the limit of the list. */
  readonly count: number;
}
