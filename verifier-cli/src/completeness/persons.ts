import { fromHex, toHex } from '../../../schemas/crypto/encoding.js';
import type { PackageFilter } from '../../../schemas/evidence/manifest.js';
import { PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import { personTag } from '../../../schemas/evidence/person-tag.js';
import { coverOf } from '../../../schemas/evidence/roll-ups.js';
import type { TagCache } from '../batches/tags.js';
import { LIMITS } from '../container/limits.js';
import type { Findings } from '../findings/findings.js';

/** What a package is shown to hold of the person whose records were asked for. */
export const PERSON_COVERAGES = [
  /** The package is not about one person, or restricted further. */
  'not-claimed',
  /** Every record of the person as of the checkpoint. */
  'complete',
  'unproved',
] as const;
export type PersonCoverage = (typeof PERSON_COVERAGES)[number];

/**
 * Verifies that a package for a person holds all of the person's records: those with the tags of 1 to
 * `records`, and none has the next tag (docs/evidence-format.md, “Persons”).
 */
export class PersonRecords {
  readonly #id: Uint8Array | null;
  readonly #records: number | null;
  /** Tags of the person, in hex, that no entry has had so far. */
  readonly #missing = new Set<string>();

  constructor(
    { person }: Pick<PackageFilter, 'person'>,
    readonly findings: Findings,
  ) {
    this.#records = person?.records ?? null;
    this.#id = person === null || person.id === null ? null : fromHex(person.id);
    if (this.#id === null || this.#records === null) return;
    const many = Math.min(this.#records, LIMITS.personRecords + 1);
    for (let n = 1; n <= many; n += 1) this.#missing.add(toHex(personTag(this.#id, n)));
  }

  /** Takes the tag of a consent, in hex. */
  accept(tag: string): void {
    this.#missing.delete(tag);
  }

  /** @param size of the package's checkpoint; null if it has none */
  async finish(tags: TagCache, size: number | null): Promise<PersonCoverage> {
    const at = { file: PACKAGE_FILES.manifest };
    const records = this.#records;
    if (records === null) {
      this.findings.skip('completeness.person', 'the package does not claim to have all records of a person');
      return 'not-claimed';
    }
    if (this.#id === null || size === null) {
      this.findings.open(
        'completeness.person',
        'the ledger has no record of the person that is not erased, so that nothing is proved about the person',
        at,
      );
      return 'unproved';
    }
    if (records > LIMITS.personRecords) {
      this.findings.fail('container.limits', `the manifest states more than ${LIMITS.personRecords} records`, at);
      return 'unproved';
    }
    if (this.#missing.size > 0) {
      this.findings.fail(
        'completeness.person',
        `${this.#missing.size} of the person's ${records} records are not in the package`,
        at,
      );
      return 'unproved';
    }
    return await this.#verifyEnd(tags, personTag(this.#id, records + 1), size);
  }

  /** No batch below the checkpoint has the next record. */
  async #verifyEnd(tags: TagCache, next: Uint8Array, size: number): Promise<PersonCoverage> {
    const at = { file: PACKAGE_FILES.batches };
    let isComplete = true;
    for (const number of coverOf(size)) {
      await tags.load(number);
      const place = tags.placeOf(number, next);
      if (place === 'absent') continue;
      isComplete = false;
      const message =
        place === 'present'
          ? `batch ${number} has a further record of the person, which is not in the package`
          : `the package does not show that batch ${number} has no further record of the person`;
      this.findings.fail('completeness.person', message, at);
      // One is enough: a package without proofs would fail for each of its batches.
      break;
    }
    if (!isComplete) return 'unproved';
    this.findings.pass('completeness.person');
    return 'complete';
  }
}
