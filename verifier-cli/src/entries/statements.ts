import { finding } from '../findings/finding.js';
import type { Findings, Location } from '../findings/findings.js';
import type { ConsentMembers } from '../versions/schemes.js';

/** Different choices of categories that are looked up, at most. */
const MOST_CHOICES = 1_000;
/** Former tools that a warning names, at most. */
const MOST_TOOLS = 10;
/** An erasure within this time of the record is stated, in milliseconds. */
export const SOON_MS = 86_400_000;

/** Records of which a reader should know something, with the place of the first one. */
interface Stated {
  records: number;
  readonly at: Location;
}

interface Choice extends Stated {
  /** Hash of the configuration. */
  readonly configuration: string;
  /** Keys of the categories that the record permits. */
  readonly permitted: readonly string[];
}

/** Decisions by which a person permits nothing that is optional. */
const REFUSALS: ReadonlySet<string> = new Set(['rejected', 'withdrawn']);

/**
 * Collects what the rules allow and a reader may still not expect: imported consents, refusals that permit
 * categories, texts that came into force after the consent by the claimed times, and records that were erased at once.
 */
export class Statements {
  readonly #choices = new Map<string, Choice>();
  readonly #tools = new Set<string>();
  #imported: Stated | null = null;
  #early: Stated | null = null;
  #erasedSoon: Stated | null = null;

  /** Takes the record of a consent. @param at its place, asked for if it matters */
  accept(consent: ConsentMembers, at: () => Location): void {
    const { decision, categories, site_config_hash: configuration } = consent;
    if (consent.import !== undefined) this.#acceptImported(consent.import.tool, at);
    if (!REFUSALS.has(decision) || categories === null) return;
    const permitted = Object.keys(categories).filter((key) => categories[key] === true);
    if (permitted.length === 0) return;
    const key = `${configuration} ${JSON.stringify(permitted.toSorted())}`;
    const known = this.#choices.get(key);
    if (known !== undefined) known.records += 1;
    else if (this.#choices.size < MOST_CHOICES)
      this.#choices.set(key, { records: 1, at: at(), ...structuredClone({ configuration, permitted }) });
  }

  #acceptImported(tool: string, at: () => Location): void {
    if (this.#tools.size < MOST_TOOLS) this.#tools.add(tool);
    if (this.#imported === null) this.#imported = { records: 1, at: at() };
    else this.#imported.records += 1;
  }

  /** Takes a consent that claims an earlier time than its text or configuration, within the tolerance. */
  acceptEarly(at: () => Location): void {
    if (this.#early === null) this.#early = { records: 1, at: at() };
    else this.#early.records += 1;
  }

  /** Takes a consent that was erased within `SOON_MS` of its claimed time. */
  acceptErasedSoon(at: () => Location): void {
    if (this.#erasedSoon === null) this.#erasedSoon = { records: 1, at: at() };
    else this.#erasedSoon.records += 1;
  }

  /**
   * Writes the warnings.
   * @param requiredIn keys of the required categories of a configuration; null: it is not in the package
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
    if (this.#early !== null)
      findings.warn(finding('text-after-consent', { records: this.#early.records }), this.#early.at);
    if (this.#erasedSoon !== null)
      findings.warn(finding('erased-soon', { records: this.#erasedSoon.records }), this.#erasedSoon.at);
  }
}
