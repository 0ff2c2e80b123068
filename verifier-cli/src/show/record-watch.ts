import { eventIdOfConsentToken } from '../../../schemas/events/consent-recorded.js';
import type { SiteConfigPublishedRecord } from '../../../schemas/events/site-config.js';
import type { SubjectErasedRecord } from '../../../schemas/events/subject-erased.js';
import type { ErasurePlace } from '../entries/erasures.js';
import type { ReadEntry } from '../entries/read-entry.js';
import type { EntryNote } from '../findings/entry-findings.js';
import { type Verdict, worst } from '../findings/verdict.js';
import type { ReportedText } from '../report/report.js';
import type { SeenErasure, ShownRecord, WatchedRecord } from './shown-record.js';

interface Named {
  readonly event_id: string;
  readonly proof_hash?: string | null;
}

/** Returns whether an erasure is shown instead of the previous one. */
function replaces(next: Pick<SeenErasure, 'isMarked' | 'verdict'>, before: SeenErasure): boolean {
  if (next.isMarked !== before.isMarked) return next.isMarked;
  return next.verdict !== before.verdict && worst(next.verdict, before.verdict) === before.verdict;
}

/** Collects one record while a package is verified, with the data needed to show it. */
export class RecordWatch {
  /** Every outcome about the record, in the order in which it was found. */
  readonly notes: EntryNote[] = [];
  read: ReadEntry | null = null;
  /** Audit path of its leaf, upwards. */
  path: readonly Uint8Array[] | null = null;
  text: ReportedText | null = null;
  configuration: SiteConfigPublishedRecord | null = null;
  isErased = false;
  /** The erasure that is shown among those that name the record, or null if the package has none. */
  erasure: SeenErasure | null = null;
  verdict: Verdict = 'valid';
  /** Set when the package is verified, or null if the record is not in it. */
  shown: ShownRecord | null = null;

  private constructor(
    readonly by: 'event_id' | 'proof_hash',
    readonly value: string,
  ) {}

  /**
   * @param name an event id, a consent token (`ct_…`) or a proof hash.
   * @returns null if it is none of these
   */
  static of(name: string): RecordWatch | null {
    if (/^[0-9a-f]{64}$/.test(name)) return new RecordWatch('proof_hash', name);
    const id = eventIdOfConsentToken(name) ?? name;
    return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id) ? new RecordWatch('event_id', id) : null;
  }

  wants(entry: Named): boolean {
    if (this.read !== null) return entry.event_id === this.read.entry.event_id;
    return entry[this.by] === this.value;
  }

  /** Returns the list that takes the outcomes about this entry, or null if the entry is not the watched one. */
  notesOf(entry: Named): EntryNote[] | null {
    return this.wants(entry) ? this.notes : null;
  }

  /** Takes the entry after it was verified on its own. If it occurs twice, both are invalid. */
  accept(read: ReadEntry, path: readonly Uint8Array[] | null): void {
    this.verdict = worst(this.verdict, read.findings.verdict);
    if (this.read !== null) return;
    this.read = read;
    this.path = path;
  }

  /**
   * Adds an erasure. The erasures of a record follow it in the package. The one to which the record's mark points takes
   * precedence, then the one with the better verdict, because anyone can write a line that names the record.
   * @param verdict verdict of the erasure's own entry
   */
  acceptErasure(
    { erased_event_id: erased, ...record }: SubjectErasedRecord,
    place: ErasurePlace & { readonly batch: number },
    verdict: Verdict,
  ): void {
    if (this.read?.entry.event_id !== erased) return;
    const mark = this.read.source.erased;
    const isMarked = mark?.stream === place.stream && mark.revision === place.revision;
    if (this.erasure !== null && !replaces({ isMarked, verdict }, this.erasure)) return;
    this.erasure = {
      event_id: record.event_id,
      announced_at: record.created_at,
      reason: record.reason,
      batch: place.batch,
      verdict,
      isMarked,
    };
  }

  /** Takes the results that need the whole package. */
  finish(found: Pick<WatchedRecord, 'verdict' | 'text' | 'configuration' | 'isErased'>): void {
    this.verdict = worst(this.verdict, found.verdict);
    this.text = found.text;
    this.configuration = found.configuration;
    this.isErased = found.isErased;
  }
}
