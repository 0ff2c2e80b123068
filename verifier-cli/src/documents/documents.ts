import { sha256, sha256Hex } from '../../../schemas/crypto/digest.js';
import { decodeUtf8, toHex } from '../../../schemas/crypto/encoding.js';
import type { DocumentVersionPublishedRecord, DocumentVersionStateRecord } from '../../../schemas/events/notices.js';
import { type ConsentCategory, SiteConfigPublishedRecord } from '../../../schemas/events/site-config.js';
import { MAX_LINE_BYTES, PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import { canonicalJson } from '../../../schemas/json/canonical-json.js';
import type { JsonValue } from '../../../schemas/json/json-value.js';
import { LIMITS } from '../container/limits.js';
import type { PackageFiles } from '../files/package-files.js';
import { parseShape } from '../files/parse.js';
import type { CheckId, Outcome } from '../findings/checks.js';
import { type Finding, finding } from '../findings/finding.js';
import type { Location } from '../findings/findings.js';
import type { Verdict } from '../findings/verdict.js';
import { MAX_TEXT_BYTES, MAX_TEXTS, type ReportedText, type VerificationReport } from '../report/report.js';
import { answersOf, pathsOf } from '../versions/answers.js';
import type { ConsentMembers } from '../versions/schemes.js';
import {
  type ConfigurationTerm,
  type Contradiction,
  type LongestValidity,
  NoticeHistory,
  type VersionTerm,
} from './notice-history.js';
import type { NoticePlace } from './place.js';

/** Reference of a record to the text consented to, or to the configuration in force. */
export type Reference =
  | {
      readonly kind: 'version';
      readonly id: string;
      readonly hash: string;
      readonly language: string;
      readonly site: string;
    }
  | {
      readonly kind: 'configuration';
      readonly hash: string;
      readonly site: string;
      /** Paths of the categories and services that the record names, sorted. */
      readonly choices: readonly string[];
      /** The rule that the record names, or null if it names none. */
      readonly rule: string | null;
      /** Whether the record is the choice of an account. */
      readonly isAccount: boolean;
    };

/** Result of resolving a reference. */
export interface Resolution {
  readonly outcome: Outcome;
  readonly message: Finding | null;
  /** When the version was in force, or null if the reference does not match a published version. */
  readonly version: VersionTerm | null;
  /** The same for a configuration. */
  readonly configuration: ConfigurationTerm | null;
  /** The check that prevents the proof, or null if there is no other cause. */
  readonly because: CheckId | null;
  /** Whether the package lacks the notice that the reference names. */
  readonly isMissing?: boolean;
}

/** A notice in the package. */
export interface Notice extends NoticePlace {
  readonly verdict: Verdict;
  /** The check that determined the verdict, or null if the verdict is valid. */
  readonly cause: CheckId | null;
  readonly at: Location;
}

interface PublishedVersion {
  readonly record: DocumentVersionPublishedRecord;
  readonly notice: Notice;
}

interface PublishedConfiguration {
  readonly eventId: string;
  readonly site: string;
  readonly number: number;
  /** Paths of the categories and services on which a person could decide: see `pathsOf`. */
  readonly choices: ReadonlySet<string>;
  /** The paths of those that a person could not refuse. */
  readonly required: ReadonlySet<string>;
  /** Ids of its rules. */
  readonly rules: ReadonlySet<string>;
  readonly hasAccounts: boolean;
  readonly notice: Notice;
}

/**
 * The document versions and configurations whose publication the package proves, and what records
 * refer to. References are kept once, however many records share them, and are resolved at the end:
 * notices follow consents in the file.
 */
export class Documents {
  readonly #versions = new Map<string, PublishedVersion>();
  readonly #ambiguous = new Set<string>();
  readonly #history = new NoticeHistory();
  readonly #configurations = new Map<string, PublishedConfiguration>();
  /** Records of configurations in a receipt, which has few, by hash. */
  readonly #receiptConfigurations = new Map<string, SiteConfigPublishedRecord>();
  /** Hashes of records whose type is not known. */
  readonly #unknown = new Set<string>();
  /** Whether a notice of an unknown version may publish what a consent names. */
  #mayPublish = false;
  /** The same for a configuration: nothing is known about the notice's record. */
  #mayConfigure = false;
  readonly #references: Reference[] = [];
  readonly #indexes = new Map<string, number>();
  #lastVersion: (Omit<Reference & { kind: 'version' }, 'kind'> & { readonly index: number }) | null = null;
  #lastConfiguration: (Omit<Reference & { kind: 'configuration' }, 'kind'> & { readonly index: number }) | null = null;
  #referenceLength = 0;
  /** Hashes of the files that entries name, or null until they are asked for. */
  #named: ReadonlySet<string> | null = null;

  /** @param isReceipt whether the entry of a configuration stands for the file with its text */
  constructor(
    readonly files: PackageFiles,
    readonly isReceipt: boolean,
  ) {}

  addVersion(record: DocumentVersionPublishedRecord, notice: Notice): void {
    if (this.#versions.has(record.document_version_id)) this.#ambiguous.add(record.document_version_id);
    else this.#versions.set(record.document_version_id, { record, notice });
    this.#history.publishVersion(record, notice, notice.at);
  }

  addState(state: 'activated' | 'retired', record: DocumentVersionStateRecord, notice: Notice): void {
    this.#history.changeState(state, record, notice, notice.at);
  }

  /** @param text the text that was hashed: the record as parsed, before its shape is checked */
  addConfiguration(record: SiteConfigPublishedRecord, text: JsonValue, notice: Notice): void {
    const { categories, service_switches: hasSwitches } = record;
    const pathsIn = (chosen: readonly ConsentCategory[]) =>
      new Set(chosen.flatMap((one) => pathsOf(one, hasSwitches === true)));
    const choices = pathsIn(categories);
    const hash = sha256Hex(canonicalJson(text));
    const { event_id: eventId, site_id: site, number } = record;
    const ids = (record.rules ?? []).map(({ id }) => id);
    // An id that occurs twice names no rule.
    const rules = new Set(ids.filter((id) => ids.indexOf(id) === ids.lastIndexOf(id)));
    const hasAccounts = record.accounts !== undefined;
    const required = pathsIn(categories.filter((one) => one.required));
    if (!this.#configurations.has(hash))
      this.#configurations.set(hash, { eventId, site, number, choices, required, rules, hasAccounts, notice });
    if (this.isReceipt) this.#receiptConfigurations.set(hash, record);
    this.#history.publishConfiguration(record, notice, notice.at);
  }

  /** Whether a consent or a publication of the package names the text or configuration of a hash. */
  names(hash: string): 'named' | 'not-named' | 'unknown' {
    this.#named ??= new Set([
      ...this.#references.map((reference) => reference.hash),
      ...[...this.#versions.values()].map(({ record }) => record.content_sha256),
      ...this.#configurations.keys(),
    ]);
    if (this.#named.has(hash)) return 'named';
    return this.#mayPublish || this.#mayConfigure || this.#unknown.has(hash) ? 'unknown' : 'not-named';
  }

  /**
   * Paths of the required categories and services of the configuration with this hash, or null if its publication is not enclosed.
   */
  requiredCategories(hash: string): ReadonlySet<string> | null {
    return this.#configurations.get(hash)?.required ?? null;
  }

  /** Number of the published configuration with this hash, or null if its publication is not enclosed. */
  configurationNumber(hash: string): number | null {
    return this.#configurations.get(hash)?.number ?? null;
  }

  /** Adds a record of a type that this verifier does not know, which may be the configuration that a consent names. */
  addUnknown(record: JsonValue): void {
    if (this.#unknown.size < LIMITS.references) this.#unknown.add(sha256Hex(canonicalJson(record)));
  }

  /** Adds a notice of a type that this verifier does not know, which may change what is in force. */
  addUnknownNotice(batch: number): void {
    this.#mayPublish = true;
    this.#history.addUnknown(batch);
  }

  /** Adds a notice whose record cannot even be read, which may be the configuration that a consent names. */
  addUnknownConfiguration(): void {
    this.#mayConfigure = true;
  }

  /**
   * The longest validity that the site published before a consent in this batch. A receipt lacks earlier configurations,
   * any of which may never have ended.
   */
  longestValidity(batch: number): LongestValidity {
    const longest = this.#history.longestValidity(batch);
    return this.isReceipt ? { ...longest, most: null } : longest;
  }

  /** Whether the type of every notice up to the end of a batch is known. */
  knowsTypesUpTo(batch: number): boolean {
    return this.#history.knowsTypesUpTo(batch);
  }

  /** Notices that contradict earlier ones: see `NoticeHistory`. */
  get contradictions(): readonly Contradiction[] {
    return this.#history.contradictions;
  }

  /** @returns the index of the reference to the document version; −1 beyond the limit */
  referToVersion(record: ConsentMembers): number {
    const { document_version_id: id, document_hash: hash, language, site_id: site } = record;
    const last = this.#lastVersion;
    // Most consents name the same as the previous one.
    if (last?.id === id && last.hash === hash && last.language === language && last.site === site) return last.index;
    const index = this.#refer(`${site} ${id} ${hash} ${language}`, { kind: 'version', id, hash, language, site });
    this.#lastVersion = { id, hash, language, site, index };
    return index;
  }

  /** @returns the index of the reference to the site's configuration; −1 beyond the limit */
  referToConfiguration(record: ConsentMembers): number {
    const { site_config_hash: hash, site_id: site, rule_id: rule = null } = record;
    const isAccount = record.scope === 'account';
    const choices = answersOf(record).map(({ path }) => path);
    const last = this.#lastConfiguration;
    const isSame = last?.hash === hash && last.site === site && last.rule === rule && last.isAccount === isAccount;
    if (isSame && areEqual(last.choices, choices)) return last.index;
    const sorted = choices.toSorted();
    const key = `${site} ${hash} ${JSON.stringify([rule, isAccount, sorted])}`;
    const index = this.#refer(key, { kind: 'configuration', hash, site, choices: sorted, rule, isAccount });
    this.#lastConfiguration = { hash, site, choices, rule, isAccount, index };
    return index;
  }

  /**
   * Resolves every reference, by index.
   * @param missing the check that reports missing notices, or null if none is missing
   */
  async resolve(missing: CheckId | null): Promise<readonly Resolution[]> {
    const resolutions: Resolution[] = [];
    for (const reference of this.#references) {
      const resolution = await this.#resolve(reference);
      resolutions.push(resolution.isMissing === true ? { ...resolution, because: missing } : resolution);
    }
    return resolutions;
  }

  async #resolve(reference: Reference): Promise<Resolution> {
    const file = PACKAGE_FILES.notice(reference.hash);
    const digest = await this.files.digest(file);
    const isInEntry = this.isReceipt && reference.kind === 'configuration';
    if (isInEntry && !this.files.has(file)) return this.#resolveConfiguration(reference);
    if (!this.files.has(file)) return failed(finding('text-missing', { file }));
    if (digest !== reference.hash) return failed(finding('text-changed', { file }));
    return reference.kind === 'version' ? this.#resolveVersion(reference) : this.#resolveConfiguration(reference);
  }

  /**
   * The first texts that records refer to, with their sources, for the report.
   * @param resolutions results of `resolve`
   */
  async texts(resolutions: readonly Resolution[]): Promise<VerificationReport['texts']> {
    const versions = [...this.#references.entries()].filter(([, { kind }]) => kind === 'version');
    const first: ReportedText[] = [];
    for (const [index, reference] of versions.slice(0, MAX_TEXTS)) {
      const outcome = resolutions[index]?.outcome ?? 'indeterminate';
      if (reference.kind === 'version') first.push(await this.#textOf(reference, outcome));
    }
    return { count: versions.length, first };
  }

  /**
   * The text that a reference of `referToVersion` names, or null if it names none. Its outcome is that of the record's
   * own check.
   */
  async textOfReference(index: number): Promise<ReportedText | null> {
    const reference = this.#references[index];
    if (reference?.kind !== 'version') return null;
    return await this.#textOf(reference, (await this.#resolve(reference)).outcome);
  }

  /** Title and number with which a text was published that `referToVersion` names, or null if they are not shown. */
  publicationOfReference(index: number): { readonly title: string; readonly number: number } | null {
    const reference = this.#references[index];
    const published = reference?.kind === 'version' ? this.#publicationOf(reference) : null;
    return published && { title: published.title, number: published.number };
  }

  /**
   * The configuration that a reference of `referToConfiguration` names, or null if its check fails, or if it cannot be
   * read.
   */
  async configurationOfReference(index: number): Promise<SiteConfigPublishedRecord | null> {
    const reference = this.#references[index];
    if (reference?.kind !== 'configuration' || (await this.#resolve(reference)).outcome === 'fail') return null;
    const known = this.#receiptConfigurations.get(reference.hash);
    if (known !== undefined) return known;
    const text = await this.source(reference.hash, MAX_LINE_BYTES);
    const parsed = text === null ? null : parseShape(SiteConfigPublishedRecord, text);
    return parsed?.ok === true ? parsed.value : null;
  }

  async #textOf(reference: Reference & { kind: 'version' }, outcome: Outcome): Promise<ReportedText> {
    const published = this.#publicationOf(reference);
    return {
      document_version_id: reference.id,
      sha256: reference.hash,
      language: reference.language,
      title: published?.title ?? null,
      number: published?.number ?? null,
      media_type: published?.media_type ?? null,
      published_at: published?.created_at ?? null,
      outcome,
      source: await this.source(reference.hash),
    };
  }

  /** The one publication of a text in the package, or null if it has none, or several. */
  #publicationOf(reference: Reference & { kind: 'version' }): DocumentVersionPublishedRecord | null {
    const published = this.#versions.get(reference.id)?.record;
    if (published === undefined || this.#ambiguous.has(reference.id)) return null;
    return published.content_sha256 === reference.hash ? published : null;
  }

  /** The text of this hash, or null if it is missing, changed, long or not UTF-8. */
  async source(hash: string, maxBytes: number = MAX_TEXT_BYTES): Promise<string | null> {
    const file = PACKAGE_FILES.notice(hash);
    const size = this.files.archive.get(file)?.size ?? Number.POSITIVE_INFINITY;
    if (size > maxBytes) return null;
    const bytes = await this.files.bytes(file, maxBytes);
    return bytes === null || toHex(sha256(bytes)) !== hash ? null : decodeUtf8(bytes);
  }

  #resolveVersion(reference: Reference & { kind: 'version' }): Resolution {
    const published = this.#versions.get(reference.id);
    const what = finding('version-publication', { version: reference.id });
    if (published === undefined && this.#mayPublish) return unknownNotice(what);
    if (published === undefined) return { ...failed(finding('notice-missing', { notice: what })), isMissing: true };
    if (this.#ambiguous.has(reference.id)) return failed(finding('notice-twice', { notice: what }));
    const { record, notice } = published;
    if (record.content_sha256 !== reference.hash) return failed(finding('notice-of-other-text', { notice: what }));
    if (record.site_id !== reference.site) return failed(finding('notice-of-other-site', { notice: what }));
    if (record.language !== reference.language) return failed(finding('notice-of-other-language', { notice: what }));
    return { ...proofOf(notice, what), version: this.#history.termOfVersion(reference.id), configuration: null };
  }

  #resolveConfiguration(reference: Reference & { kind: 'configuration' }): Resolution {
    const published = this.#configurations.get(reference.hash);
    const what = finding('configuration-publication');
    if (published === undefined && (this.#mayConfigure || this.#unknown.has(reference.hash)))
      return unknownNotice(what);
    if (published === undefined) return { ...failed(finding('notice-missing', { notice: what })), isMissing: true };
    if (published.site !== reference.site) return failed(finding('notice-of-other-site', { notice: what }));
    const unknown = reference.choices.find((path) => !published.choices.has(path));
    if (unknown !== undefined) return failed(finding('category-unknown', { category: unknown }));
    const { rule } = reference;
    if (rule !== null && !published.rules.has(rule)) return failed(finding('rule-unknown', { rule }));
    if (reference.isAccount && !published.hasAccounts) return failed(finding('accounts-off'));
    const configuration = this.#history.termOfConfiguration(published.eventId);
    return { ...proofOf(published.notice, what), version: null, configuration };
  }

  #refer(key: string, reference: Reference): number {
    const known = this.#indexes.get(key);
    if (known !== undefined) return known;
    if (this.#references.length >= LIMITS.references) return -1;
    if (this.#referenceLength + key.length > LIMITS.referenceLength) return -1;
    this.#referenceLength += key.length;
    this.#indexes.set(key, this.#references.length);
    // Copies the texts, because as substrings of a line they would keep a whole block of lines in memory.
    this.#references.push(structuredClone(reference));
    return this.#references.length - 1;
  }
}

const NO_TERMS = { version: null, configuration: null, because: null };

function proofOf({ verdict, cause }: Notice, what: Finding): Pick<Resolution, 'outcome' | 'message' | 'because'> {
  if (verdict === 'valid') return { outcome: 'pass', message: null, because: null };
  if (verdict === 'invalid')
    return { outcome: 'fail', message: finding('notice-failed', { notice: what }), because: cause };
  return { outcome: 'indeterminate', message: finding('notice-not-proved', { notice: what }), because: cause };
}

/** The notice may be the one of an unknown version. */
function unknownNotice(what: Finding): Resolution {
  return {
    ...NO_TERMS,
    outcome: 'indeterminate',
    message: finding('notice-unknown', { notice: what }),
  };
}

function failed(message: Finding): Resolution {
  return { ...NO_TERMS, outcome: 'fail', message };
}

function areEqual(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text, i) => text === b[i]);
}
