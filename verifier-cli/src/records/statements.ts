import type { Disclosure } from '../../../schemas/evidence/disclosure.js';
import { Presentation } from '../../../schemas/evidence/presentation.js';
import { finding } from '../findings/finding.js';
import type { Findings, Location } from '../findings/findings.js';
import { contradictionsOf } from '../show/contradicted-presentation.js';
import { permittedPaths } from '../versions/answers.js';
import type { ConsentMembers } from '../versions/schemes.js';

/** Maximum number of different choices of categories that are looked up. */
const MOST_CHOICES = 1_000;
/** Maximum number of former tools that a warning names. */
const MOST_TOOLS = 10;
/** An erasure within this time of the record is stated, in milliseconds. */
export const SOON_MS = 86_400_000;

/** Records that a reader should know something about, with the location of the first one. */
interface Stated {
  records: number;
  readonly at: Location;
}

interface Choice extends Stated {
  /** Hash of the configuration. */
  readonly configuration: string;
  /** Paths of the categories and services that the record permits. */
  readonly permitted: readonly string[];
}

/** Maximum number of rows of imported files that are compared. */
const MOST_ROWS = 500_000;
/** Nobody consented on a web site before this year. */
const FIRST_CLAIM = '1995-01-01T00:00:00.000Z';
/** Fifty years, in milliseconds. */
const LONG_MS = 50 * 366 * 86_400_000;

function oneMore(stated: Stated | null, at: () => Location): Stated {
  if (stated === null) return { records: 1, at: at() };
  stated.records += 1;
  return stated;
}

/** Decisions by which a person permits nothing that is optional. */
const REFUSALS: ReadonlySet<string> = new Set(['rejected', 'withdrawn']);

/**
 * Collects what the rules allow but a reader may not expect: imported consents, with implausible times and repeated
 * rows; questions that contradict the decision; refusals that permit categories; texts that, by the claimed times, came
 * into force after the consent; and records that were erased soon after they were made.
 */
export class Statements {
  readonly #choices = new Map<string, Choice>();
  readonly #tools = new Set<string>();
  readonly #rows = new Set<string>();
  #imported: Stated | null = null;
  #rowTwice: Stated | null = null;
  #oddTimes: Stated | null = null;
  #olderThanText: Stated | null = null;
  #contradicted: Stated | null = null;
  #early: Stated | null = null;
  #erasedSoon: Stated | null = null;

  /**
   * Takes the record of a consent.
   * @param disclosed values of the record
   * @param at a function that returns the record's location when it is needed
   */
  accept(consent: ConsentMembers, disclosed: readonly Disclosure[], at: () => Location): void {
    this.#acceptPresentation(consent, disclosed, at);
    const { decision, site_config_hash: configuration } = consent;
    if (consent.import !== undefined) this.#acceptImported(consent, consent.import, at);
    if (!REFUSALS.has(decision)) return;
    const permitted = permittedPaths(consent);
    if (permitted.length === 0) return;
    const key = `${configuration} ${JSON.stringify(permitted.toSorted())}`;
    const known = this.#choices.get(key);
    if (known !== undefined) known.records += 1;
    else if (this.#choices.size < MOST_CHOICES)
      this.#choices.set(key, { records: 1, at: at(), ...structuredClone({ configuration, permitted }) });
  }

  #acceptPresentation(consent: ConsentMembers, disclosed: readonly Disclosure[], at: () => Location): void {
    const value = disclosed.find(({ name }) => name === 'presentation')?.value;
    const stated = value === undefined ? null : Presentation.safeParse(value);
    if (stated?.success !== true || contradictionsOf(stated.data, consent).length === 0) return;
    this.#contradicted = oneMore(this.#contradicted, at);
  }

  #acceptImported(
    { valid_until: end }: ConsentMembers,
    { tool, claimed_at: claimed, file_sha256: file, row }: NonNullable<ConsentMembers['import']>,
    at: () => Location,
  ): void {
    if (this.#tools.size < MOST_TOOLS) this.#tools.add(tool);
    this.#imported = oneMore(this.#imported, at);
    const place = `${file} ${row}`;
    if (this.#rows.has(place)) this.#rowTwice = oneMore(this.#rowTwice, at);
    else if (this.#rows.size < MOST_ROWS) this.#rows.add(place);
    const isLong = end !== null && Date.parse(end) - Date.parse(claimed) > LONG_MS;
    if (claimed < FIRST_CLAIM || isLong) this.#oddTimes = oneMore(this.#oddTimes, at);
  }

  /** Takes a consent that claims an earlier time than its text or configuration, within the tolerance. */
  acceptEarly(at: () => Location): void {
    this.#early = oneMore(this.#early, at);
  }

  /** Takes an imported consent whose tool claims a time before its text was published here. */
  acceptOlderThanText(at: () => Location): void {
    this.#olderThanText = oneMore(this.#olderThanText, at);
  }

  /** Takes a consent that was erased within `SOON_MS` of its claimed time. */
  acceptErasedSoon(at: () => Location): void {
    this.#erasedSoon = oneMore(this.#erasedSoon, at);
  }

  /**
   * Writes the warnings.
   * @param requiredIn paths of the required categories and services of a configuration, or null if it is not in the
   *   package
   */
  finish(findings: Findings, requiredIn: (configuration: string) => ReadonlySet<string> | null): void {
    for (const { records, at, configuration, permitted } of this.#choices.values()) {
      const required = requiredIn(configuration);
      const optional = required === null ? [] : permitted.filter((key) => !required.has(key));
      if (optional.length > 0)
        findings.warn(finding('refusal-permits', { records, categories: optional.join(', ') }), at);
    }
    if (this.#imported !== null) {
      const tools = [...this.#tools].toSorted().join(', ');
      findings.warn(finding('consents-imported', { records: this.#imported.records, tools }), this.#imported.at);
    }
    const rest = [
      ['presentation-contradicts', this.#contradicted],
      ['import-row-twice', this.#rowTwice],
      ['import-odd-times', this.#oddTimes],
      ['import-before-text', this.#olderThanText],
    ] as const;
    for (const [code, stated] of rest)
      if (stated !== null) findings.warn(finding(code, { records: stated.records }), stated.at);
    if (this.#early !== null)
      findings.warn(finding('text-after-consent', { records: this.#early.records }), this.#early.at);
    if (this.#erasedSoon !== null)
      findings.warn(finding('erased-soon', { records: this.#erasedSoon.records }), this.#erasedSoon.at);
  }
}
