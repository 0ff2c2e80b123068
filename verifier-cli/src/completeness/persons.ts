import { fromHex, toHex } from '../../../schemas/crypto/encoding.js';
import { namedVisitor, normalVisitor } from '../../../schemas/evidence/disclosed-values.js';
import type { Disclosure } from '../../../schemas/evidence/disclosure.js';
import { isUnfiltered, type PackageFilter } from '../../../schemas/evidence/manifest.js';
import { PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import { personTag } from '../../../schemas/evidence/person-tag.js';
import { coverOf } from '../../../schemas/evidence/roll-ups.js';
import type { TagCache } from '../batches/tags.js';
import { LIMITS } from '../container/limits.js';
import type { ReadEntry } from '../entries/read-entry.js';
import { finding } from '../findings/finding.js';
import type { Findings } from '../findings/findings.js';
import { WORK, type WorkMeter } from '../work/work-meter.js';

/** Degrees to which a package is shown to contain the records of the requested person. */
export const PERSON_COVERAGES = [
  /** The package is not about one person, or is restricted further. */
  'not-claimed',
  /** Every record of the person as of the checkpoint. */
  'complete',
  'unproved',
] as const;
export type PersonCoverage = (typeof PERSON_COVERAGES)[number];

/** The kind of the package, and its size. */
interface PersonContext {
  /** The person that the relying party asks about, named by `visitor_id`, or null if there is none. */
  readonly asked: string | null;
  readonly isReceipt: boolean;
  /** Number of bytes of `entries.ndjson`. */
  readonly entriesBytes: number;
  readonly work: WorkMeter;
}

/**
 * Every line of an entry is longer than this. If more records are claimed than such lines fit, some are missing,
 * regardless of their tags.
 */
const LEAST_LINE_BYTES = 64;

/**
 * Verifies that a package for a person contains all of the person's records: those with the tags of 1 to `records`,
 * while no batch has the next tag (docs/evidence-format.md, “Persons”).
 */
export class PersonRecords {
  readonly #id: Uint8Array | null;
  readonly #records: number | null;
  /** Whether the package can have an entry for each of the records. */
  readonly #areFew: boolean;
  /** Tags of the person, in hex, that no entry has had so far. */
  readonly #missing = new Set<string>();
  /** Records with a tag of the person whose version is not known. */
  #unread = 0;
  /** Number of entries whose tag is unknown. */
  #unknown = 0;
  /** Whether all consents of the package are said to be of one person. */
  readonly #isOfPerson: boolean;
  /** The person, as the first value of `visitor_id` among the person's records names them. */
  #visitor: string | null = null;
  /** Event ids of the person's records without `visitor_id`, except those marked as erased or `key_lost`. */
  readonly #unnamed: string[] = [];
  /** The person that the relying party asks about, or null if there is none. */
  readonly #asked: string | null;

  constructor(
    readonly filter: PackageFilter,
    { asked, isReceipt, entriesBytes, work }: PersonContext,
    readonly findings: Findings,
  ) {
    const { person } = filter;
    // No record can have a longer value.
    this.#asked = asked === null ? null : (normalVisitor(asked) ?? asked);
    this.#isOfPerson = person !== null || isReceipt;
    this.#records = person?.records ?? null;
    this.#areFew = (this.#records ?? 0) * LEAST_LINE_BYTES <= entriesBytes;
    this.#id = person === null || person.id === null ? null : fromHex(person.id);
    if (this.#id === null || this.#records === null || !this.#areFew) return;
    const many = Math.min(this.#records, LIMITS.personRecords + 1);
    for (let n = 1; n <= many && work.take(WORK.personTag); n += 1) this.#missing.add(toHex(personTag(this.#id, n)));
  }

  /** The person of the package, in Unicode normalization form C, or null if its records do not name one. */
  get visitor(): string | null {
    return this.#visitor;
  }

  /**
   * Takes a consent. Only the person's own records disclose values, and these must name one person. Otherwise an
   * operator could state the tags of another person, or of nobody.
   * @returns whether it is a record of the person, according to the manifest
   */
  accept({ entry, source, findings }: ReadEntry, disclosures: readonly Disclosure[]): boolean {
    const { person_tag: tag, event_id: eventId } = entry;
    const isCounted = this.#records !== null && this.#areFew;
    if (isCounted && (tag === null || !this.#missing.delete(tag))) {
      if (disclosures.length > 0) findings.fail('manifest.filter', finding('value-of-other-person'));
      return false;
    }
    if (!this.#isOfPerson) return true;
    const visitor = namedVisitor(disclosures);
    if (visitor === null) {
      if (source.erased === undefined && source.key_lost === undefined) this.#unnamed.push(structuredClone(eventId));
      return true;
    }
    this.#visitor ??= visitor;
    if (isCounted && this.#visitor !== visitor) findings.fail('completeness.person', finding('persons-differ'));
    else if (this.#asked !== null && this.#asked !== visitor)
      findings.fail('completeness.person', finding('other-person-than-asked'));
    return true;
  }

  /**
   * Takes an event of a version that this verifier does not know: it may be a record of the person.
   * @param tag the tag in hex, or null if it is unknown
   */
  acceptUnknown(tag: string | null): void {
    if (tag === null) this.#unknown += 1;
    else if (this.#missing.delete(tag)) this.#unread += 1;
  }

  /**
   * @param size size of the package's checkpoint, or null if it has none
   * @param isErased whether an erasure names the record of an event id
   */
  async finish(tags: TagCache, size: number | null, isErased: (eventId: string) => boolean): Promise<PersonCoverage> {
    const at = { file: PACKAGE_FILES.manifest };
    const unnamed = this.#unnamed.filter((eventId) => !isErased(eventId)).length;
    if (this.#asked !== null && !this.#isOfPerson)
      this.findings.open('completeness.person', finding('package-of-no-person'), at);
    else if (this.#asked !== null && unnamed > 0 && this.#records === null)
      this.findings.open('completeness.person', finding('records-name-no-person', { unnamed }), at);
    const records = this.#records;
    const { person, ...rest } = this.filter;
    if (person !== null && records === null && isUnfiltered({ ...rest, person: null })) {
      this.findings.fail('completeness.person', finding('person-records-not-stated'), at);
      return 'unproved';
    }
    if (records === null) {
      this.findings.skip('completeness.person', finding('person-not-claimed'));
      return 'not-claimed';
    }
    if (this.#id === null && records > 0) {
      this.findings.fail('completeness.person', finding('person-without-id'), at);
      return 'unproved';
    }
    if (this.#id === null || size === null) return this.#nothingProved();
    if (this.#areFew && records > LIMITS.personRecords) {
      this.findings.fail('container.limits', finding('too-many-person-records', { limit: LIMITS.personRecords }), at);
      return 'unproved';
    }
    const missing = this.#areFew ? this.#missing.size : records;
    if (!this.#areFew || missing > this.#unknown) {
      this.findings.fail('completeness.person', finding('person-records-missing', { missing, records }), at);
      return 'unproved';
    }
    const isComplete = await this.#isEnd(tags, personTag(this.#id, records + 1), size);
    if (!isComplete) return 'unproved';
    if (this.#missing.size + this.#unread > 0) {
      const message = finding('person-records-unknown');
      this.findings.open('completeness.person', message, at);
      return 'unproved';
    }
    // No record binds the id to a person, and any made-up id has no records.
    if (records === 0) return this.#nothingProved();
    // A record that does not name the person could belong to someone else to whom the operator gave the same id.
    if (unnamed > 0 || this.#visitor === null) {
      this.findings.open('completeness.person', finding('records-name-no-person', { unnamed }), at);
      return 'unproved';
    }
    this.findings.pass('completeness.person');
    return 'complete';
  }

  #nothingProved(): PersonCoverage {
    this.findings.open('completeness.person', finding('nothing-of-person-proved'), { file: PACKAGE_FILES.manifest });
    return 'unproved';
  }

  /** Verifies that no batch below the checkpoint has the next record, and reports why this is not shown. */
  async #isEnd(tags: TagCache, next: Uint8Array, size: number): Promise<boolean> {
    let unknown: number | null = null;
    for (const number of coverOf(size)) {
      await tags.load(number);
      const place = tags.placeOf(number, next);
      if (place === 'unknown-version') unknown ??= number;
      if (place === 'absent' || place === 'unknown-version') continue;
      const message =
        place === 'present'
          ? finding('further-person-record', { batch: number })
          : finding('person-end-not-shown', { batch: number });
      // One report is enough: a package without proofs would fail for each of its batches.
      this.findings.fail('completeness.person', message, { file: PACKAGE_FILES.batches });
      return false;
    }
    if (unknown !== null) {
      const message = finding('person-may-continue', { batch: unknown });
      this.findings.open('completeness.person', message, { file: PACKAGE_FILES.batches });
    }
    return unknown === null;
  }
}
