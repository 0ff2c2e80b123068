import { isConsentType, isOfPolicyStream, isSealedEventType } from '../../../schemas/events/sealed-event.js';
import { consentsStream, noticesStream, POLICY_STREAM } from '../../../schemas/events/streams.js';
import { type Disclosure, decodeDisclosure } from '../../../schemas/evidence/disclosure.js';
import { isReceipt, isUnfiltered } from '../../../schemas/evidence/manifest.js';
import { PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import { isInCover } from '../../../schemas/evidence/roll-ups.js';
import { type Coverage, type Covered, verifyCoverage } from '../completeness/coverage.js';
import { type PersonCoverage, PersonRecords } from '../completeness/persons.js';
import { RequestedEvents } from '../completeness/requested-events.js';
import { CompleteRuns } from '../completeness/runs.js';
import { Documents, type Resolution } from '../documents/documents.js';
import { type ScanContext, SiteScans } from '../documents/site-scans.js';
import { Attachments } from '../entries/attachments.js';
import { DistinctIds } from '../entries/distinct-ids.js';
import { EntryOrder } from '../entries/entry-order.js';
import { EntryPlaces, type PlacesContext } from '../entries/entry-places.js';
import { Erasures } from '../entries/erasures.js';
import { entryLineReader, type ReadEntry, readEntry, type UnknownEntry } from '../entries/read-entry.js';
import { unknownOf } from '../entries/record-rules.js';
import { type CommonFields, commonFieldsOf, streamProblem } from '../entries/stream-rules.js';
import { type RecordsSummary, SummaryCounter } from '../entries/summary.js';
import { TAG_WORDS, UUID_WORDS } from '../entries/uuid-words.js';
import type { PackageFiles } from '../files/package-files.js';
import type { CheckId } from '../findings/checks.js';
import { type Finding, finding } from '../findings/finding.js';
import { unknownVersion } from '../findings/unknown-version.js';
import { type Verdict, verdictOf, worst } from '../findings/verdict.js';
import type { ConsentList } from '../list/consent-list.js';
import type { NamedFiles } from '../manifest/file-list.js';
import type { Policies } from '../policy/policies.js';
import { verifyPolicyCounts } from '../policy/policy-counts.js';
import type { PromisedRecords } from '../promises/promised-records.js';
import type { ReportedScans, ReportedSite, VerificationReport } from '../report/report.js';
import type { RecordWatch } from '../show/record-watch.js';
import { ANY_DELAY, PolicyDelays } from '../time/allowed-delays.js';
import { verifyClaimedTime } from '../time/claimed-times.js';
import { latePolicy } from '../time/late-policy.js';
import { StreamTimes } from '../time/stream-times.js';
import { verifyAbsence } from './absence.js';
import { type ConsentContext, ConsentRecords } from './consent-records.js';
import { FinalChecks } from './final-checks.js';
import { type PublicRecords, publicRecords, verifyPublicRecord } from './public-records.js';
import { Statements } from './statements.js';

/** Parts of the package with which the entries are compared. */
export interface EntryContext extends PlacesContext, ConsentContext {
  readonly policies: Policies;
  /** Milliseconds from the claimed time to the stamp, if the relying party limits it. */
  readonly maxDelay: number | undefined;
  /** The record to show, if there is one. */
  readonly watch: RecordWatch | null;
  /** Takes the entries that promises name. */
  readonly promised: PromisedRecords;
  /** The person that the relying party asks about, named by `visitor_id`, or null if there is none. */
  readonly askedPerson: string | null;
}

export interface EntriesResult {
  readonly summary: RecordsSummary;
  /** The files that the entries need. */
  readonly named: NamedFiles;
  readonly texts: VerificationReport['texts'];
  readonly site: ReportedSite | null;
  /** Returns the number of an enclosed configuration, for the recorded scans. */
  readonly configurationNumber: ScanContext['configurationNumber'];
  readonly scansFor: (context: Pick<ScanContext, 'intervals' | 'foundation'>) => ReportedScans;
  /** Null if there is no manifest. */
  readonly coverage: Coverage | null;
  readonly person: PersonCoverage;
  /** The person of the package, as its records name the person, or null if they do not. */
  readonly visitor: string | null;
}

/**
 * Verifies every entry of the package in one pass (docs/evidence-format.md §4, §11), and then what entries say about
 * one another.
 */
export async function verifyEntries(files: PackageFiles, context: EntryContext): Promise<EntriesResult> {
  const pass = new EntriesPass(files, context);
  for await (const block of files.blocks(PACKAGE_FILES.entries, entryLineReader(context.schemes), 'entry.format')) {
    for (const { line, value } of block) {
      pass.counter.entries += 1;
      const read = readEntry(line, value, files.findings, context.schemes, context.watch);
      const waiting = read === null ? null : pass.accept(read);
      if (waiting !== null) await waiting;
    }
  }
  return await pass.finish();
}

class EntriesPass {
  readonly counter = new SummaryCounter();
  readonly #isReceipt: boolean;
  /** Role of the package's own streams. Without a manifest, only that of the policies is known. */
  readonly #roles: ReadonlyMap<string, 'consents' | 'notices' | 'policies'>;
  readonly #order = new EntryOrder();
  readonly #eventIds = new DistinctIds(UUID_WORDS);
  readonly #tags = new DistinctIds(TAG_WORDS);
  readonly #places: EntryPlaces;
  readonly #runs: CompleteRuns;
  readonly #requested: RequestedEvents | null;
  readonly #person: PersonRecords | null;
  readonly #delays: PolicyDelays;
  readonly #streamTimes = new StreamTimes();
  readonly #attachments: Attachments;
  readonly #consents: ConsentRecords;
  readonly #documents: Documents;
  readonly #scans = new SiteScans();
  readonly #statements = new Statements();
  readonly #erasures: Erasures;
  readonly #publicRecords: PublicRecords;
  /** Batches of the policies. */
  readonly #policies: number[] = [];
  /** The worst verdict on a policy, because every record is evaluated by a policy. */
  #policyVerdict: Verdict = 'valid';

  constructor(
    readonly files: PackageFiles,
    readonly context: EntryContext,
  ) {
    const { findings } = files;
    const { manifest, policies, times, maxDelay, watch } = context;
    const filter = manifest?.filter ?? null;
    this.#isReceipt = manifest !== null && isReceipt(manifest);
    this.#roles = new Map([
      [POLICY_STREAM, 'policies'],
      ...(filter === null ? [] : ([[consentsStream(filter.site_id), 'consents']] as const)),
      ...(filter === null ? [] : ([[noticesStream(filter.site_id), 'notices']] as const)),
    ]);
    this.#places = new EntryPlaces(files, context);
    this.#runs = new CompleteRuns(manifest?.complete ?? [], findings);
    this.#requested = filter && new RequestedEvents(filter, findings);
    this.#person =
      filter &&
      new PersonRecords(
        filter,
        {
          asked: context.askedPerson,
          isReceipt: this.#isReceipt,
          entriesBytes: files.archive.get(PACKAGE_FILES.entries)?.size ?? 0,
          work: files.work,
        },
        findings,
      );
    this.#delays = new PolicyDelays({ policies, existedBy: (batch) => times.endOf(batch), maxDelay });
    this.#attachments = new Attachments(files);
    this.#documents = new Documents(files, this.#isReceipt);
    this.#erasures = new Erasures(findings);
    this.#publicRecords = publicRecords(this.#documents, this.#scans, this.#erasures, watch);
    this.#consents = new ConsentRecords(
      context,
      this.#person,
      this.#documents,
      this.#attachments,
      this.counter,
      this.#statements,
    );
  }

  /**
   * @returns a promise to await before the next entry, or null if everything was in memory: a million promises would
   *   cost more than most checks
   */
  accept(read: ReadEntry | UnknownEntry): Promise<void> | null {
    if (!read.isKnown) {
      this.#verify(read, []);
      return null;
    }
    const disclosures = isConsentType(read.entry.type) ? read.source.disclosures.map(decodeDisclosure) : [];
    const isWatched = this.context.watch?.wants(read.entry) === true;
    if (isWatched || !this.#places.isAtHand(read) || !this.#attachments.areAtHand(disclosures))
      return this.#acceptLater(read, disclosures);
    this.#verify(read, disclosures);
    return null;
  }

  async #acceptLater(read: ReadEntry, disclosures: readonly (Disclosure | null)[]): Promise<void> {
    await this.#places.load(read);
    await this.#attachments.load(disclosures);
    this.#verify(read, disclosures);
    const { watch } = this.context;
    if (watch?.wants(read.entry) === true) watch.accept(read, await this.#places.pathOf(read));
  }

  #verify(read: ReadEntry | UnknownEntry, disclosures: readonly (Disclosure | null)[]): void {
    const { entry, source, findings } = read;
    const isPolicy = entry.stream === POLICY_STREAM;
    this.#order.accept(read);
    this.#places.note(read);
    this.#runs.accept(entry.stream, entry.revision, !read.isKnown);
    if (isPolicy) this.#policies.push(source.batch);
    if (read.isKnown) this.#verifyKnown(read, disclosures);
    else this.#leaveOpen(read);
    if (isPolicy || (read.isKnown && isOfPolicyStream(read.entry.type))) this.#joinPolicies(findings.verdict);
  }

  #verifyKnown(read: ReadEntry, disclosures: readonly (Disclosure | null)[]): void {
    const { entry, findings } = read;
    const { type } = entry;
    if (!this.#eventIds.add(entry.event_id)) findings.fail('entry.order', finding('event-id-repeated'));
    const unknown = read.consent === null ? unknownOf(read, this.context.schemes) : null;
    this.#requested?.accept(entry.event_id);
    this.context.promised.accept(read);
    this.#places.verify(read);
    // An entry that is not in the ledger must not claim the tag of one that is.
    const isSealed = entry.person_tag !== null && findings.verdict !== 'invalid';
    if (isSealed && !this.#tags.add(entry.person_tag ?? '')) findings.fail('batch.tags', finding('tag-repeated'));
    const common = read.consent ?? commonFieldsOf(read.record);
    const problem = streamProblem(entry, common, this.context.manifest?.filter.site_id ?? null);
    if (problem === null) findings.pass('entry.stream');
    else findings.report('entry.stream', unknown === null ? 'fail' : 'indeterminate', problem);
    if (common !== null) this.#verifyTime(read, common);
    if (unknown !== null) this.#leaveRecordOpen(read, unknown);
    else if (isSealedEventType(type)) {
      if (isConsentType(type)) this.#consents.verify(read, type, disclosures);
      else verifyPublicRecord(type, read, this.#publicRecords);
    }
  }

  #verifyTime({ entry, source: { batch }, findings }: ReadEntry, { created_at: createdAt }: CommonFields): void {
    const claimed = Date.parse(createdAt);
    const isPolicy = entry.stream === POLICY_STREAM;
    const sealed = this.#places.sealedOf(batch);
    verifyClaimedTime(claimed, sealed, isPolicy ? ANY_DELAY : this.#delays.of(batch, claimed), findings);
    const warning = isPolicy
      ? latePolicy(entry.revision + 1, claimed, sealed.before, this.context.policies.inForceAt(batch))
      : null;
    if (warning !== null) this.files.findings.warn(warning);
    this.#streamTimes.accept(entry.stream, claimed, findings);
  }

  /** Takes an event whose record has an unknown meaning. What it may change is left undecided. */
  #leaveRecordOpen(read: ReadEntry, message: Finding): void {
    const { entry, record, findings } = read;
    findings.open('record.format', message);
    this.#documents.addUnknown(record);
    if (entry.person_tag !== null) this.#person?.acceptUnknown(entry.person_tag);
    const isConsent = isConsentType(entry.type);
    this.#leaveEffectsOpen(read, isConsent);
    if (isConsent) this.#consents.addUnread(read);
  }

  /** Takes an entry of an unknown version. Only its position is verified. */
  #leaveOpen(read: UnknownEntry): void {
    const { stream } = read.entry;
    const role = this.#roles.get(stream);
    this.#leaveEffectsOpen(read, false);
    if (role === 'notices') this.#documents.addUnknownConfiguration();
    if (role === 'consents') this.#person?.acceptUnknown(null);
    if (role !== undefined) this.#places.verify(read);
    else read.findings.open('entry.stream', unknownVersion(finding('unknown-stream', { stream })));
  }

  /** Notes the possible effects of an event of which only the position is known. */
  #leaveEffectsOpen({ entry, source }: ReadEntry | UnknownEntry, isConsent: boolean): void {
    const { stream, revision } = entry;
    const role = this.#roles.get(stream);
    if (role === 'notices') this.#documents.addUnknownNotice(source.batch);
    if (role === 'consents' && !isConsent) this.#erasures.addUnknown({ stream, revision });
    if (source.disclosures.length > 0) this.#attachments.isUnknownNamed = true;
    if (!isConsent) this.counter.unknown += 1;
  }

  async finish(): Promise<EntriesResult> {
    const { manifest, size, watch, list } = this.context;
    const { table } = this.#consents;
    const { coverage, tail } = this.#cover();
    this.#requested?.finish();
    const isErased = (eventId: string): boolean => this.#erasures.isErased(eventId);
    const person = (await this.#person?.finish(this.#places.tags, size, isErased)) ?? 'not-claimed';
    // A receipt has only the notices that its record names, so the record is evaluated by these.
    const isWhole = coverage?.notices.is_whole === true || this.#isReceipt;
    const resolutions = await this.#documents.resolve(manifest === null || isWhole ? null : 'completeness.runs');
    const absence = await verifyAbsence(table, this.#erasures, this.#places.tags, {
      manifest,
      size,
      tail,
      work: this.files.work,
    });
    await this.#places.tags.loadOthers();
    const knowsNoticesUpTo = (batch: number): boolean => isWhole && this.#documents.knowsTypesUpTo(batch);
    for (const { message, batch, at } of this.#documents.contradictions)
      this.files.findings.report('document.in-force', knowsNoticesUpTo(batch) ? 'fail' : 'indeterminate', message, at);
    const finalChecks = new FinalChecks(this.files.findings, table, this.#erasures, {
      resolutions,
      policyVerdict: this.#policyVerdict,
      knowsNoticesUpTo,
      longestValidity: (batch) => this.#documents.longestValidity(batch),
      noticesUnknownBecause: this.#noticesUnknownBecause(isWhole),
      absence,
      statements: this.#statements,
    });
    for (let i = 0; i < table.length; i += 1) {
      const notes = watch === null ? null : watch.notesOf({ event_id: table.eventIdOf(i) });
      const { verdict, isErased } = finalChecks.evaluate(i, notes);
      if (isErased) this.counter.erased += 1;
      if (notes !== null) await this.#finishWatched(i, verdict, isErased);
      if (list?.holds(i) === true) this.#finishListed(list, i, verdict, isErased);
    }
    this.#statements.finish(this.files.findings, (hash) => this.#documents.requiredCategories(hash));
    const configurationNumber = (hash: string): number | null => this.#documents.configurationNumber(hash);
    return {
      configurationNumber,
      summary: this.counter.summary(table.length, table.tally()),
      named: this.#named(),
      texts: await this.#documents.texts(resolutions),
      site: await this.#site(resolutions),
      scansFor: ({ intervals, foundation }) =>
        this.#scans.reported({
          intervals,
          // The policies affect every record.
          foundation: worst(foundation, this.#policyVerdict),
          configurationNumber,
        }),
      coverage,
      person,
      visitor: this.#person?.visitor ?? null,
    };
  }

  #named(): NamedFiles {
    const { manifest, size } = this.context;
    const isFiltered = manifest !== null && !this.#isReceipt && !isUnfiltered(manifest.filter);
    const mayShowAbsence = (number: number): boolean => isFiltered && size !== null && isInCover(number, size);
    return {
      attachments: this.#attachments.named,
      isUnknownNamed: this.#attachments.isUnknownNamed,
      notice: (hash) => this.#documents.names(hash),
      hasProofs: (number) => this.#places.holding.has(number),
      hasTags: (number) => this.#places.tagged.has(number) || mayShowAbsence(number),
    };
  }

  /** Returns site and controller as the configuration of the newest consent names them, if that is proved. */
  async #site(resolutions: readonly Resolution[]): Promise<ReportedSite | null> {
    const { table } = this.#consents;
    const index = table.length === 0 ? -1 : table.row(table.length - 1).configuration;
    if (resolutions[index]?.outcome !== 'pass') return null;
    const configuration = await this.#documents.configurationOfReference(index);
    if (configuration === null) return null;
    const { domain, controller } = configuration;
    return { domain, controller: controller.legal_name, contact: controller.contact };
  }

  /** @param isWhole whether all notices are there; if so, some have an unknown version */
  #noticesUnknownBecause(isWhole: boolean): CheckId {
    if (this.context.manifest === null) return 'manifest.format';
    if (!isWhole) return 'completeness.runs';
    return this.files.findings.outcomeOf('record.format') === 'indeterminate' ? 'record.format' : 'entry.format';
  }

  #cover(): Covered {
    const { manifest, batches, size } = this.context;
    const { findings } = this.files;
    this.#runs.finish();
    const covered = verifyCoverage({ manifest, runs: this.#runs, batches, size, findings });
    this.#joinPolicies(verdictOf('completeness.runs', covered.policies));
    const counts = { batches, size, policies: this.#policies, isCut: covered.policies === 'fail' };
    this.#joinPolicies(verdictOf('completeness.policies', verifyPolicyCounts(counts, findings)));
    return covered;
  }

  #joinPolicies(verdict: Verdict): void {
    this.#policyVerdict = worst(this.#policyVerdict, verdict);
  }

  /** @param verdict verdict of the checks at the end, which is joined with the verdict of the record alone */
  #finishListed(list: ConsentList, index: number, verdict: Verdict, isErased: boolean): void {
    const { batch, version, verdict: own } = this.#consents.table.row(index);
    // An unreadable batch proves nothing about the entries that claim to be in it.
    const existedBy = this.context.batches.has(batch) ? (this.context.times.endOf(batch)?.time ?? null) : null;
    list.evaluate(index, {
      verdict: worst(own, verdict),
      isErased,
      erasureVerdict: this.#erasures.verdictOn(this.#consents.table.eventIdOf(index)),
      existedBy,
      text: this.#documents.publicationOfReference(version),
    });
  }

  async #finishWatched(index: number, verdict: Verdict, isErased: boolean): Promise<void> {
    const row = this.#consents.table.row(index);
    const text = await this.#documents.textOfReference(row.version);
    const configuration = await this.#documents.configurationOfReference(row.configuration);
    this.context.watch?.finish({ verdict, text, configuration, isErased });
  }
}
