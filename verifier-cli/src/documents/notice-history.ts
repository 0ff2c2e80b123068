import type { DocumentVersionPublishedRecord, DocumentVersionStateRecord } from '../../../schemas/events/notices.js';
import type { SiteConfigPublishedRecord } from '../../../schemas/events/site-config.js';
import { type Days, longer, refusalDays } from '../../../schemas/law/periods.js';
import { type Finding, finding } from '../findings/finding.js';
import type { Location } from '../findings/findings.js';
import type { NoticePlace } from './place.js';

/** When a document version came into force and ceased to be in force, in the order of the ledger. */
export interface VersionTerm {
  readonly published: NoticePlace;
  /** Null if no activation is enclosed. */
  readonly activated: NoticePlace | null;
  /** Null if no retirement is enclosed. */
  readonly retired: NoticePlace | null;
  readonly requiresApprovalToken: boolean;
  /** The first notice of the version's document and language that contradicts an earlier one. */
  readonly contradiction: Contradiction | null;
}

/** The same for a configuration, which is in force from its publication. */
export interface ConfigurationTerm {
  readonly published: NoticePlace;
  /** The publication of the next configuration, or null if none is enclosed. */
  readonly superseded: NoticePlace | null;
  /** Time after which a consent expires, in days, or null if it never does. */
  readonly validityDays: Days;
  /** Days after which a person who refused may be asked again, or null if never. */
  readonly refusalDays: Days;
  /** The first configuration that contradicts an earlier one. */
  readonly contradiction: Contradiction | null;
}

/**
 * The longest validity of the configurations that were published before a consent: at least, because some of its batch
 * may have followed it, and at most. Null never ends.
 */
export interface LongestValidity {
  readonly least: Days;
  readonly most: Days;
}

/** A notice that cannot follow the earlier notices of its site. */
export interface Contradiction {
  readonly message: Finding;
  readonly batch: number;
  readonly at: Location;
}

interface Version {
  /** Document and language of the notice. */
  readonly series: string;
  readonly documentId: string;
  readonly published: NoticePlace;
  readonly requiresApprovalToken: boolean;
  activated: NoticePlace | null;
  retired: NoticePlace | null;
}

/** The versions of one document in one language. */
interface Series {
  lastNumber: number;
  active: Version | null;
  contradiction: Contradiction | null;
}

interface Configuration {
  readonly published: NoticePlace;
  readonly validityDays: Days;
  readonly refusalDays: Days;
  superseded: NoticePlace | null;
}

/**
 * Replays the notices of the package's site in their order. The first contradiction of each document
 * and language is kept, and the first of the configurations.
 */
export class NoticeHistory {
  readonly #versions = new Map<string, Version>();
  readonly #series = new Map<string, Series>();
  /** Configurations by event id. */
  readonly #configurations = new Map<string, Configuration>();
  /** States of versions whose publication is not enclosed. */
  readonly #stray: Contradiction[] = [];
  #newest: { readonly number: number; readonly configuration: Configuration } | null = null;
  #configurationContradiction: Contradiction | null = null;
  /** The longest validity from each batch on in which it became longer. */
  readonly #longest: { readonly batch: number; readonly days: Days }[] = [];
  #firstUnknown = Number.POSITIVE_INFINITY;

  publishVersion(record: DocumentVersionPublishedRecord, place: NoticePlace, at: Location): void {
    const { document_version_id: id, document_id: documentId, language, number } = record;
    const key = `${documentId} ${language}`;
    const series = this.#series.get(key) ?? { lastNumber: 0, active: null, contradiction: null };
    this.#series.set(key, series);
    const contradict = (message: Finding): void => {
      series.contradiction ??= { message, batch: place.batch, at };
    };
    if (number <= series.lastNumber)
      contradict(finding('version-number-repeated', { number, previous: series.lastNumber }));
    series.lastNumber = Math.max(series.lastNumber, number);
    if (this.#versions.has(id)) {
      contradict(finding('version-published-twice', { version: id }));
      return;
    }
    const { requires_approval_token: requiresApprovalToken } = record;
    const version = {
      series: key,
      documentId,
      published: place,
      requiresApprovalToken,
      activated: null,
      retired: null,
    };
    this.#versions.set(id, version);
  }

  changeState(
    state: 'activated' | 'retired',
    record: DocumentVersionStateRecord,
    place: NoticePlace,
    at: Location,
  ): void {
    const { document_version_id: id, document_id: documentId } = record;
    const version = this.#versions.get(id);
    const series = version && this.#series.get(version.series);
    if (version === undefined || series === undefined || version.documentId !== documentId) {
      const message = finding('state-of-unpublished', { version: id, state });
      if (this.#stray.length === 0) this.#stray.push({ message, batch: place.batch, at });
      return;
    }
    const contradict = (message: Finding): void => {
      series.contradiction ??= { message, batch: place.batch, at };
    };
    if (version.retired !== null) contradict(finding('state-after-retired', { version: id, state }));
    else if (version[state] !== null) contradict(finding('state-twice', { version: id, state }));
    if (state === 'retired') {
      if (series.active === version) series.active = null;
    } else {
      if (series.active !== null && series.active !== version)
        contradict(finding('two-active-versions', { version: id }));
      series.active = version;
    }
    version[state] ??= place;
  }

  publishConfiguration(record: SiteConfigPublishedRecord, place: NoticePlace, at: Location): void {
    const configuration: Configuration = {
      published: place,
      validityDays: record.validity_days,
      refusalDays: refusalDays(record),
      superseded: null,
    };
    const before = this.#longest.at(-1)?.days;
    const days = before === undefined ? record.validity_days : longer(before, record.validity_days);
    if (days !== before) this.#longest.push({ batch: place.batch, days });
    if (this.#newest !== null) {
      this.#newest.configuration.superseded = place;
      if (record.number <= this.#newest.number)
        this.#configurationContradiction ??= {
          message: finding('configuration-number-repeated', { number: record.number, previous: this.#newest.number }),
          batch: place.batch,
          at,
        };
    }
    this.#newest = { number: Math.max(record.number, this.#newest?.number ?? 0), configuration };
    if (!this.#configurations.has(record.event_id)) this.#configurations.set(record.event_id, configuration);
  }

  /**
   * The longest validity of the configurations that were published in batches before one, and up to it.
   * @returns 0 days where none is enclosed
   */
  longestValidity(batch: number): LongestValidity {
    const until = (isBefore: (batch: number) => boolean): Days => {
      const found = this.#longest.findLast((one) => isBefore(one.batch));
      return found === undefined ? 0 : found.days;
    };
    return { least: until((one) => one < batch), most: until((one) => one <= batch) };
  }

  /** Adds a notice of a type that this verifier does not know, which may change what is in force from here on. */
  addUnknown(batch: number): void {
    this.#firstUnknown = Math.min(this.#firstUnknown, batch);
  }

  /** Whether this verifier knows the type of every notice up to the end of a batch. */
  knowsTypesUpTo(batch: number): boolean {
    return batch < this.#firstUnknown;
  }

  /** @returns null if its publication is not enclosed */
  termOfVersion(id: string): VersionTerm | null {
    const version = this.#versions.get(id);
    if (version === undefined) return null;
    const { published, activated, retired, requiresApprovalToken } = version;
    const contradiction = this.#series.get(version.series)?.contradiction ?? null;
    return { published, activated, retired, requiresApprovalToken, contradiction };
  }

  /** @returns null if its publication is not enclosed */
  termOfConfiguration(eventId: string): ConfigurationTerm | null {
    const configuration = this.#configurations.get(eventId);
    return configuration === undefined ? null : { ...configuration, contradiction: this.#configurationContradiction };
  }

  /** The first contradiction of each document and language, of the configurations and of other notices. */
  get contradictions(): readonly Contradiction[] {
    const found = [...this.#series.values()].map(({ contradiction }) => contradiction);
    return [...found, this.#configurationContradiction, ...this.#stray].filter((one) => one !== null);
  }
}
