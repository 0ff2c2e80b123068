import { CONSENT_RECORDED } from '../../../schemas/events/consent-recorded.js';
import { LEDGER_POLICY_SET, LedgerPolicySetRecord } from '../../../schemas/events/ledger-policy.js';
import {
  DOCUMENT_VERSION_ACTIVATED,
  DOCUMENT_VERSION_PUBLISHED,
  DOCUMENT_VERSION_RETIRED,
  DocumentVersionPublishedRecord,
  DocumentVersionStateRecord,
} from '../../../schemas/events/notices.js';
import { isSealedEventType, SEALED_RECORD_SCHEMAS } from '../../../schemas/events/sealed-event.js';
import { SITE_CONFIG_PUBLISHED, SiteConfigPublishedRecord } from '../../../schemas/events/site-config.js';
import { SITE_SCANNED, SiteScannedRecord } from '../../../schemas/events/site-scanned.js';
import { consentsStream, noticesStream, POLICY_STREAM } from '../../../schemas/events/streams.js';
import { SUBJECT_ERASED, SubjectErasedRecord } from '../../../schemas/events/subject-erased.js';
import type { StreamRun } from '../../../schemas/evidence/batch-header.js';
import { type Disclosure, decodeDisclosure } from '../../../schemas/evidence/disclosure.js';
import { isReceipt, type Manifest } from '../../../schemas/evidence/manifest.js';
import { PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import { rollUpsOver } from '../../../schemas/evidence/roll-ups.js';
import type { JsonValue } from '../../../schemas/json/json-value.js';
import type { Batch, Batches } from '../batches/batches.js';
import { ProofCache } from '../batches/proofs.js';
import { TagCache } from '../batches/tags.js';
import {
  type Coverage,
  coverageOf,
  NO_TAIL,
  type StreamTail,
  tailOf,
  verifyCoverage,
} from '../completeness/coverage.js';
import { type PersonCoverage, PersonRecords } from '../completeness/persons.js';
import { RequestedEvents } from '../completeness/requested-events.js';
import { CompleteRuns } from '../completeness/runs.js';
import { Documents, type Notice, type Resolution } from '../documents/documents.js';
import { isApproval } from '../documents/in-force.js';
import { type ScanContext, SiteScans } from '../documents/site-scans.js';
import { verifyAbsence } from '../erasure/absence.js';
import { Erasures } from '../erasure/erasures.js';
import type { PackageFiles } from '../files/package-files.js';
import { matchShape } from '../files/parse.js';
import type { CheckId } from '../findings/check-table.js';
import type { EntryFindings } from '../findings/entry-findings.js';
import { type Finding, finding } from '../findings/finding.js';
import { type Verdict, verdictOf, worst } from '../findings/verdict.js';
import type { ConsentList } from '../list/consent-list.js';
import { FilterRules } from '../manifest/filter.js';
import type { Policies } from '../policy/policies.js';
import { verifyPolicyCounts } from '../policy/policy-counts.js';
import type { PromisedRecords } from '../promises/promised-records.js';
import type { ReportedScans, ReportedSite, VerificationReport } from '../report/report.js';
import type { RecordWatch } from '../show/record-watch.js';
import { ANY_DELAY, PolicyDelays } from '../time/allowed-delays.js';
import type { SealingInterval } from '../time/batch-times.js';
import { type Sealed, verifyClaimedTime } from '../time/claimed-times.js';
import { latePolicy } from '../time/late-policy.js';
import type { StampedTimes } from '../time/stamped-times.js';
import { StreamTimes } from '../time/stream-times.js';
import { type EntryMembers, memberOf, type RecordScheme, type Schemes, select } from '../versions/schemes.js';
import { unknownEventType, unknownVersion } from '../versions/unknown-version.js';
import { Attachments } from './attachments.js';
import { type ConsentRow, ConsentTable } from './consent-table.js';
import { verifyDisclosures } from './disclosures.js';
import { EntryOrder } from './entry-order.js';
import { EventIds } from './event-ids.js';
import { FinalChecks } from './final-checks.js';
import { openingProblem } from './person-opening.js';
import { entryLineReader, type ReadEntry, readEntry, type UnknownEntry } from './read-entry.js';
import { recordProblem, unknownOfRecord } from './record-rules.js';
import { Salts } from './salts.js';
import { commonFieldsOf, streamProblem } from './stream-rules.js';
import { type RecordsSummary, SummaryCounter } from './summary.js';

/** Parts of the package with which the entries are compared. */
export interface EntryContext {
  readonly manifest: Manifest | null;
  readonly batches: Batches;
  /** Size of the package's checkpoint; null if it has none. */
  readonly size: number | null;
  readonly times: StampedTimes;
  /** When each batch was proved to be sealed. */
  readonly intervals: readonly SealingInterval[];
  readonly policies: Policies;
  /** Milliseconds from the claimed time to the stamp, if the verifying person limits it. */
  readonly maxDelay: number | undefined;
  /** The record to be shown, if one is. */
  readonly watch: RecordWatch | null;
  /** Takes all consents; null: none is listed. */
  readonly list: ConsentList | null;
  /** Takes the entries that promises name. */
  readonly promised: PromisedRecords;
  readonly schemes: Schemes;
}

export interface EntriesResult {
  readonly summary: RecordsSummary;
  /** Names of the attachment files that disclosures vouch for. */
  readonly attachments: ReadonlySet<string>;
  readonly texts: VerificationReport['texts'];
  readonly site: ReportedSite | null;
  /** The recorded scans, given what the whole package says. */
  readonly configurationNumber: ScanContext['configurationNumber'];
  readonly scansFor: (context: Pick<ScanContext, 'intervals' | 'foundation'>) => ReportedScans;
  /** Whether an event of an unknown version may name attachments. */
  readonly isUnknownNamed: boolean;
  /** Null without a manifest. */
  readonly coverage: Coverage | null;
  readonly person: PersonCoverage;
}

/** State of a document version after an event, by type of the event. */
const STATES: ReadonlyMap<string, 'activated' | 'retired'> = new Map([
  [DOCUMENT_VERSION_ACTIVATED, 'activated'],
  [DOCUMENT_VERSION_RETIRED, 'retired'],
]);

/** Values kept of a consent whose record cannot be read. */
const UNREAD_CONSENT: Pick<
  ConsentRow,
  'createdAt' | 'validForMs' | 'lacksToken' | 'matches' | 'version' | 'configuration' | 'isLacking'
> = {
  createdAt: 0,
  validForMs: null,
  lacksToken: false,
  matches: false,
  version: -1,
  configuration: -1,
  isLacking: false,
};

/**
 * Verifies every entry of the package in one pass, and at its end what entries say of one another.
 */
export async function verifyEntries(files: PackageFiles, context: EntryContext): Promise<EntriesResult> {
  const pass = new EntriesPass(files, context);
  for await (const block of files.blocks(PACKAGE_FILES.entries, entryLineReader(context.schemes), 'entry.format')) {
    for (const { line, value } of block) {
      pass.counter.entries += 1;
      const read = readEntry(line, value, files.findings, context.schemes, context.watch);
      if (read?.isKnown === false) pass.acceptUnknown(read);
      const waiting = read?.isKnown === true ? pass.accept(read) : null;
      if (waiting !== null) await waiting;
    }
  }
  return await pass.finish();
}

/** The run of a batch or roll-up that has an entry; null: none. */
function runWith({ runs }: Batch, { stream, revision }: Pick<EntryMembers, 'stream' | 'revision'>): StreamRun | null {
  return runs.find((run) => run.stream === stream && run.first <= revision && revision <= run.last) ?? null;
}

/** Whether a line has a member that only the line of a consent may have. */
function isOfConsent({ disclosures, erased, person }: ReadEntry['source']): boolean {
  return disclosures.length > 0 || erased !== undefined || person !== undefined;
}

class EntriesPass {
  readonly counter = new SummaryCounter();
  readonly #order = new EntryOrder();
  readonly #eventIds = new EventIds();
  readonly #proofs: ProofCache;
  readonly #tags: TagCache;
  readonly #person: PersonRecords | null;
  readonly #requested: RequestedEvents | null;
  readonly #attachments: Attachments;
  readonly #documents: Documents;
  readonly #scans = new SiteScans();
  readonly #erasures: Erasures;
  readonly #runs: CompleteRuns;
  /** Batches of the policies. */
  readonly #policies: number[] = [];
  readonly #filter: FilterRules | null;
  readonly #consents = new ConsentTable();
  readonly #salts = new Salts();
  readonly #streamTimes = new StreamTimes();
  readonly #intervals: ReadonlyMap<number, SealingInterval>;
  readonly #delays: PolicyDelays;
  /** Null without a manifest. */
  readonly #noticesStream: string | null;
  readonly #consentsStream: string | null;
  /** Neighbouring entries are of one batch. */
  #latestHolding: readonly number[] | null = null;
  /** The worst verdict on a policy: every record is evaluated by one. */
  #policyVerdict: Verdict = 'valid';
  /** Result for the batch evaluated last: consecutive entries share a batch. */
  #lastBatch: { readonly number: number; readonly sealed: Sealed } | null = null;

  constructor(
    readonly files: PackageFiles,
    readonly context: EntryContext,
  ) {
    this.#proofs = new ProofCache(files, context.batches);
    this.#tags = new TagCache(files, context.batches);
    const filter = context.manifest?.filter ?? null;
    this.#noticesStream = filter && noticesStream(filter.site_id);
    this.#consentsStream = filter && consentsStream(filter.site_id);
    this.#person = filter && new PersonRecords(filter, files.findings);
    this.#requested = filter && new RequestedEvents(filter, files.findings);
    this.#attachments = new Attachments(files);
    this.#documents = new Documents(files, context.manifest !== null && isReceipt(context.manifest));
    this.#erasures = new Erasures(files.findings);
    this.#runs = new CompleteRuns(context.manifest?.complete ?? [], files.findings);
    this.#filter = context.manifest && new FilterRules(context.manifest.filter);
    this.#intervals = new Map(context.intervals.map((interval) => [interval.batch, interval]));
    const { policies, times, maxDelay } = context;
    this.#delays = new PolicyDelays({ policies, existedBy: (batch) => times.endOf(batch), maxDelay });
  }

  /**
   * @returns a promise to await before the next entry; null where everything was at hand: a
   *   million promises would cost more than most checks
   */
  accept(read: ReadEntry): Promise<void> | null {
    const disclosures = read.entry.type === CONSENT_RECORDED ? read.source.disclosures.map(decodeDisclosure) : [];
    const isWatched = this.context.watch?.wants(read.entry) === true;
    if (isWatched || !this.#isProofAtHand(read) || !this.#attachments.areAtHand(disclosures))
      return this.#acceptLater(read, disclosures);
    this.#verify(read, disclosures);
    return null;
  }

  async #acceptLater(read: ReadEntry, disclosures: readonly (Disclosure | null)[]): Promise<void> {
    const batch = this.#batchOf(read);
    if (batch !== null && !this.#isProofAtHand(read)) {
      await this.#proofs.load(batch);
      if (read.entry.person_tag !== null) await this.#tags.load(...this.#holding(batch));
    }
    await this.#attachments.load(disclosures);
    this.#verify(read, disclosures);
    const { watch } = this.context;
    if (watch?.wants(read.entry) === true) watch.accept(read, await this.#pathOf(read));
  }

  #verify(read: ReadEntry, disclosures: readonly (Disclosure | null)[]): void {
    const { entry, findings } = read;
    const { stream, revision, previous } = entry;
    this.#order.accept({ stream, revision, source: read.source, link: { previous, leaf: read.leaf }, findings });
    if (!this.#eventIds.add(entry.event_id)) findings.fail('entry.order', finding('event-id-repeated'));
    const unknown = this.#unknownOf(read);
    this.#runs.accept(stream, revision);
    if (stream === POLICY_STREAM) this.#policies.push(read.source.batch);
    this.#requested?.accept(entry.event_id);
    this.context.promised.accept(read);
    this.#verifyPlace(read);
    const common = read.consent ?? commonFieldsOf(read.record);
    const problem = streamProblem(entry, common, this.context.manifest?.filter.site_id ?? null);
    if (problem === null) findings.pass('entry.stream');
    else findings.report('entry.stream', unknown === null ? 'fail' : 'indeterminate', problem);
    if (common !== null) {
      const createdAt = Date.parse(common.created_at);
      const { batch } = read.source;
      const isPolicy = stream === POLICY_STREAM;
      const allowed = isPolicy ? ANY_DELAY : this.#delays.of(batch, createdAt);
      const sealed = this.#sealedOf(batch);
      verifyClaimedTime(createdAt, sealed, allowed, findings);
      const warning = isPolicy
        ? latePolicy(revision + 1, createdAt, sealed.before, this.context.policies.inForceAt(batch))
        : null;
      if (warning !== null) this.files.findings.warn(warning);
      this.#streamTimes.accept(entry.stream, createdAt, findings);
    }
    if (unknown === null) this.#verifyRecord(read, disclosures);
    else this.#leaveRecordOpen(read, unknown);
    if (entry.stream === POLICY_STREAM || entry.type === LEDGER_POLICY_SET)
      this.#policyVerdict = worst(this.#policyVerdict, findings.verdict);
  }

  /** The message about an unknown version of the event or of its record; null if both are known. */
  #unknownOf({ entry, record, consent }: ReadEntry): Finding | null {
    if (consent !== null) return null;
    return isSealedEventType(entry.type) ? unknownOfRecord(record, this.context.schemes) : unknownEventType(entry.type);
  }

  /** Takes an event whose record has a meaning that is not known: what it may change stays open. */
  #leaveRecordOpen(read: ReadEntry, message: Finding): void {
    const { entry, record, source, findings } = read;
    findings.open('record.format', message);
    this.#documents.addUnknown(record);
    const isConsent = entry.type === CONSENT_RECORDED;
    if (!isConsent) this.counter.unknown += 1;
    this.#acceptMeaningless(entry, source, !isConsent);
    if (entry.person_tag !== null) this.#person?.acceptUnknown(entry.person_tag);
    if (isConsent) {
      this.#remember(read, UNREAD_CONSENT);
      this.context.list?.accept(read, null, []);
    }
  }

  /** Notes the possible effects of an event of which only the place is known. */
  #acceptMeaningless(
    { stream, revision }: Pick<EntryMembers, 'stream' | 'revision'>,
    { batch, disclosures }: UnknownEntry['source'],
    canErase: boolean,
  ): void {
    if (stream === this.#noticesStream) this.#documents.addUnknownNotice(batch);
    if (stream === this.#consentsStream && canErase) this.#erasures.addUnknown({ stream, revision });
    if (disclosures.length > 0) this.#attachments.isUnknownNamed = true;
  }

  /** Takes an entry of an unknown version. Only its place is verified. */
  acceptUnknown({ source, stream, revision, findings }: UnknownEntry): void {
    this.counter.unknown += 1;
    this.#order.accept({ stream, revision, source, link: null, findings });
    this.#runs.acceptUnknown(stream, revision);
    if (stream === POLICY_STREAM) this.#policies.push(source.batch);
    this.#acceptMeaningless({ stream, revision }, source, true);
    if (stream === this.#noticesStream) this.#documents.addUnknownConfiguration();
    if (stream === this.#consentsStream) this.#person?.acceptUnknown(null);
    const isOwn = stream === this.#noticesStream || stream === this.#consentsStream || stream === POLICY_STREAM;
    if (isOwn) this.#verifyRuns({ stream, revision }, source, findings);
    else findings.open('entry.stream', unknownVersion(finding('unknown-stream', { stream })));
    if (stream === POLICY_STREAM) this.#policyVerdict = worst(this.#policyVerdict, findings.verdict);
  }

  /**
   * The runs of the batch and of the roll-ups over it have the entry, at the stated index.
   * @returns whether the package has the batch, in a known version
   */
  #verifyRuns(
    place: Pick<EntryMembers, 'stream' | 'revision'>,
    { batch: number, index }: Pick<UnknownEntry['source'], 'batch' | 'index'>,
    findings: EntryFindings,
  ): boolean {
    const { batches } = this.context;
    const batch = batches.get(number);
    if (batch === undefined) {
      if (batches.unknown.has(number))
        findings.open('entry.inclusion', finding('batch-version-unknown', { batch: number }));
      else findings.fail('entry.inclusion', finding('entry-batch-missing', { batch: number }));
      return false;
    }
    const run = runWith(batch, place);
    if (run === null) findings.fail('batch.streams', finding('revision-not-in-batch', { batch: number }));
    else if (index !== run.start + place.revision - run.first)
      findings.fail('entry.inclusion', finding('other-index-demanded', { batch: number }));
    findings.adopt(batch.verdict, batch.cause);
    const interval = this.#intervals.get(number);
    findings.adopt(interval?.verdict ?? 'valid', interval?.cause);
    for (const above of this.#holding(batch)) if (above !== number) this.#verifyRollUp(above, place, findings);
    return true;
  }

  #verifyRollUp(number: number, place: Pick<EntryMembers, 'stream' | 'revision'>, findings: EntryFindings): void {
    const { batches } = this.context;
    const holding = batches.get(number);
    if (batches.unknown.has(number)) findings.open('batch.streams', finding('roll-up-unknown', { batch: number }));
    else if (holding === undefined) findings.fail('batch.streams', finding('roll-up-missing', { batch: number }));
    else if (runWith(holding, place) === null)
      findings.fail('batch.streams', finding('revision-not-in-roll-up', { batch: number }));
    if (holding !== undefined) findings.adopt(holding.verdict, holding.cause);
  }

  /** When a batch was sealed. */
  #sealedOf(number: number): Sealed {
    if (this.#lastBatch?.number === number) return this.#lastBatch.sealed;
    const { batches, times } = this.context;
    const header = batches.get(number)?.header;
    const interval = this.#intervals.get(number);
    const sealed: Sealed = {
      after: interval?.after ?? null,
      before: interval?.before ?? null,
      missing: header === undefined ? 'entry.inclusion' : times.causeOfMissing(number),
      sealedAt: header === undefined ? null : Date.parse(header.sealed_at),
      authorities: { found: times.authoritiesOf(number), required: times.requiredFor(number) },
    };
    this.#lastBatch = { number, sealed };
    return sealed;
  }

  /** The batch in which the entry's place is looked up; null where it is not. */
  #batchOf({ source }: ReadEntry): Batch | null {
    const batch = this.context.batches.get(source.batch);
    // The size that an invalid batch states bounds nothing: its proofs could be endless.
    return batch === undefined || batch.verdict === 'invalid' ? null : batch;
  }

  #isProofAtHand(read: ReadEntry): boolean {
    const batch = this.#batchOf(read);
    if (batch === null) return true;
    if (!this.#proofs.isAtHand(batch, read.source.index)) return false;
    return read.entry.person_tag === null || this.#holding(batch).every((number) => this.#tags.isAtHand(number));
  }

  /** The batch and the roll-ups over it: what holds an entry of the batch must be in all of them. */
  #holding({ header: { number } }: Batch): readonly number[] {
    if (this.#latestHolding?.[0] !== number) {
      this.#latestHolding = [number, ...rollUpsOver(number, this.context.size ?? 0)];
    }
    return this.#latestHolding;
  }

  async #pathOf({ source }: ReadEntry): Promise<readonly Uint8Array[] | null> {
    const batch = this.context.batches.get(source.batch);
    return batch === undefined ? null : this.#proofs.pathOf(batch, source.index);
  }

  /** The entry's place in its batch; its verdict takes in that of the batch. */
  #verifyPlace(read: ReadEntry): void {
    const { entry, source, leaf, findings } = read;
    const isThere = this.#verifyRuns(entry, source, findings);
    if (!isThere) return;
    const batch = this.#batchOf(read);
    if (batch === null) {
      const { cause = null } = this.context.batches.get(source.batch) ?? {};
      findings.open('entry.inclusion', finding('batch-failed-before', { batch: source.batch }), cause);
      return;
    }
    const problem = this.#proofs.problemOf(batch, source.index, leaf);
    // An entry that is stated in another batch has neither its proof nor its tag there.
    const because = runWith(batch, entry) === null ? 'batch.streams' : null;
    if (problem === null) findings.pass('entry.inclusion');
    else findings.fail('entry.inclusion', problem, because);
    // The tags of an entry are looked up only with its place.
    if (entry.person_tag !== null) this.#verifyTags(entry.person_tag, batch, findings, because);
  }

  /** The batch and the roll-ups over it have the tag of the entry. */
  #verifyTags(tag: string, batch: Batch, findings: EntryFindings, because: CheckId | null): void {
    for (const number of this.#holding(batch)) {
      if (!this.context.batches.has(number)) continue;
      const problem = this.#tags.problemOf(number, tag);
      if (problem === null) findings.pass('batch.tags');
      else findings.fail('batch.tags', problem, because);
    }
  }

  #verifyRecord(read: ReadEntry, disclosures: readonly (Disclosure | null)[]): void {
    const { entry, record, findings, source } = read;
    if (!isSealedEventType(entry.type)) return;
    if (entry.type === CONSENT_RECORDED) {
      this.#verifyConsent(read, disclosures);
      return;
    }
    if (isOfConsent(source)) findings.fail('disclosure.digest', finding('disclosure-of-other-event'));
    const parsed = matchShape<unknown>(SEALED_RECORD_SCHEMAS[entry.type], record);
    if (parsed.ok) findings.pass('record.format');
    else findings.fail('record.format', finding('record-invalid', { reason: parsed.reason }));
    const policy = entry.type === LEDGER_POLICY_SET ? matchShape(LedgerPolicySetRecord, record) : null;
    if (policy?.ok && policy.value.number !== entry.revision + 1)
      findings.fail('record.format', finding('policy-number-wrong'));
    const version =
      entry.type === DOCUMENT_VERSION_PUBLISHED ? matchShape(DocumentVersionPublishedRecord, record) : null;
    const noticeOf = ({ created_at }: { readonly created_at: string }): Notice => ({
      batch: source.batch,
      createdAt: Date.parse(created_at),
      verdict: findings.verdict,
      cause: findings.cause,
      at: findings.at,
    });
    if (version?.ok) this.#documents.addVersion(version.value, noticeOf(version.value));
    const state = STATES.get(entry.type);
    const change = state === undefined ? null : matchShape(DocumentVersionStateRecord, record);
    if (state !== undefined && change?.ok) this.#documents.addState(state, change.value, noticeOf(change.value));
    const configuration = entry.type === SITE_CONFIG_PUBLISHED ? matchShape(SiteConfigPublishedRecord, record) : null;
    if (configuration?.ok) this.#documents.addConfiguration(configuration.value, record, noticeOf(configuration.value));
    const scan = entry.type === SITE_SCANNED ? matchShape(SiteScannedRecord, record) : null;
    if (scan?.ok) this.#scans.add({ record: scan.value, batch: source.batch, verdict: findings.verdict });
    const erasure = entry.type === SUBJECT_ERASED ? matchShape(SubjectErasedRecord, record) : null;
    if (erasure?.ok) {
      const { stream, revision } = entry;
      this.context.watch?.acceptErasure(erasure.value, { stream, revision, batch: source.batch }, findings.verdict);
      this.#erasures.add({ stream, revision }, erasure.value, entry.person_tag, findings);
    }
  }

  #verifyConsent(read: ReadEntry, decoded: readonly (Disclosure | null)[]): void {
    const { entry, record, source, findings } = read;
    const scheme = this.#recordSchemeOf(record);
    const parsed =
      read.consent === null ? matchShape(scheme.shape, record) : { ok: true as const, value: read.consent };
    if (!parsed.ok) {
      findings.fail('record.format', finding('record-invalid', { reason: parsed.reason }));
      this.#person?.accept(entry.person_tag, [], findings);
      this.#remember(read, UNREAD_CONSENT);
      this.context.list?.accept(read, null, []);
      return;
    }
    const consent = parsed.value;
    const problem = recordProblem(consent);
    if (problem === null) findings.pass('record.format');
    else findings.fail('record.format', problem);
    findings.open('record.proof-hash', finding('proof-hash-not-checked'));
    const disclosures = verifyDisclosures(consent, scheme, source.disclosures, decoded, findings);
    this.#salts.accept(disclosures, findings);
    this.#filter?.verify(consent, disclosures, findings);
    const isOfPerson = this.#person?.accept(entry.person_tag, disclosures, findings) !== false;
    this.#verifyOpening(read, disclosures);
    this.#attachments.verify(disclosures, findings);
    this.counter.consent(consent.decision, consent.created_at);
    this.counter.disclosed += disclosures.length;
    const withheld = Math.max(0, Object.keys(consent.disclosures).length - disclosures.length);
    if (source.erased === undefined) this.counter.withheld += withheld;
    const isLacking = withheld > 0 && isOfPerson && this.#filter?.mustDisclose(consent) === true;
    const createdAt = Date.parse(consent.created_at);
    this.#remember(read, {
      createdAt,
      validForMs: consent.valid_until === null ? null : Date.parse(consent.valid_until) - createdAt,
      matches: this.#filter?.matches(consent) === true,
      lacksToken: consent.approval_token_id === null && isApproval(consent.consent_type),
      version: this.#documents.referToVersion(consent),
      configuration: this.#documents.referToConfiguration(consent),
      isLacking,
    });
    this.context.list?.accept(read, consent, disclosures);
  }

  #verifyOpening(read: ReadEntry, disclosures: readonly Disclosure[]): void {
    const { manifest } = this.context;
    const problem = openingProblem(read, disclosures, manifest !== null && isReceipt(manifest));
    if (problem === null) read.findings.pass('disclosure.person');
    else if (problem !== 'none') read.findings.report('disclosure.person', problem.outcome, problem.message);
  }

  /** The scheme that a record of a known version states. @throws RangeError for another one */
  #recordSchemeOf(record: JsonValue): RecordScheme {
    const selected = select(this.context.schemes.records, memberOf(record, 'hash_version'));
    if (!selected.isKnown) throw new RangeError('the record has an unknown version');
    return selected.scheme;
  }

  #remember({ entry, source, line, findings }: ReadEntry, rest: typeof UNREAD_CONSENT): void {
    // Spelled out: spreading the rest costs more than all of it, a million times.
    this.#consents.add({
      createdAt: rest.createdAt,
      validForMs: rest.validForMs,
      lacksToken: rest.lacksToken,
      matches: rest.matches,
      version: rest.version,
      configuration: rest.configuration,
      isLacking: rest.isLacking,
      line,
      stream: entry.stream,
      revision: entry.revision,
      eventId: entry.event_id,
      batch: source.batch,
      tag: entry.person_tag ?? '',
      verdict: findings.verdict,
      erased: source.erased ?? null,
      isDisclosed: source.disclosures.length > 0,
    });
  }

  async finish(): Promise<EntriesResult> {
    const { coverage, tail } = this.#cover();
    this.#requested?.finish();
    const person = (await this.#person?.finish(this.#tags, this.context.size)) ?? 'not-claimed';
    const { manifest, size } = this.context;
    const isCut = manifest !== null && !isReceipt(manifest) && coverage?.notices.is_whole !== true;
    const resolutions = await this.#documents.resolve(isCut ? 'completeness.runs' : null);
    const absence = await verifyAbsence(this.#consents, this.#erasures, this.#tags, {
      manifest,
      size,
      tail,
      work: this.files.work,
    });
    // A receipt has only the notices that its record names: it is evaluated by these.
    const isWhole = coverage?.notices.is_whole === true || (manifest !== null && isReceipt(manifest));
    const knowsNoticesUpTo = (batch: number): boolean => isWhole && this.#documents.knowsTypesUpTo(batch);
    for (const { message, batch, at } of this.#documents.contradictions)
      this.files.findings.report('document.in-force', knowsNoticesUpTo(batch) ? 'fail' : 'indeterminate', message, at);
    const finalChecks = new FinalChecks(this.files.findings, this.#consents, this.#erasures, {
      resolutions,
      policyVerdict: this.#policyVerdict,
      knowsNoticesUpTo,
      noticesUnknownBecause: this.#noticesUnknownBecause(isWhole),
      absence,
    });
    for (let i = 0; i < this.#consents.length; i += 1) {
      const { watch } = this.context;
      const notes = watch === null ? null : watch.notesOf({ event_id: this.#consents.eventIdOf(i) });
      const { verdict, isErased } = finalChecks.evaluate(i, notes);
      if (isErased) this.counter.erased += 1;
      if (notes !== null) await this.#finishWatched(i, verdict, isErased);
      if (this.context.list?.holds(i) === true) this.#finishListed(this.context.list, i, verdict, isErased);
    }
    const configurationNumber = (hash: string): number | null => this.#documents.configurationNumber(hash);
    return {
      configurationNumber,
      summary: this.counter.summary(this.#consents.length, this.#consents.tally()),
      attachments: this.#attachments.named,
      isUnknownNamed: this.#attachments.isUnknownNamed,
      texts: await this.#documents.texts(resolutions),
      site: await this.#site(resolutions),
      scansFor: ({ intervals, foundation }) =>
        this.#scans.reported({
          intervals,
          // Every record is evaluated by the policies.
          foundation: worst(foundation, this.#policyVerdict),
          configurationNumber,
        }),
      coverage,
      person,
    };
  }

  /** Site and controller as the configuration of the newest consent names them, if it is proved. */
  async #site(resolutions: readonly Resolution[]): Promise<ReportedSite | null> {
    const last = this.#consents.length - 1;
    const index = last < 0 ? -1 : this.#consents.row(last).configuration;
    if (resolutions[index]?.outcome !== 'pass') return null;
    const configuration = await this.#documents.configurationOfReference(index);
    if (configuration === null) return null;
    const { domain, controller } = configuration;
    return { domain, controller: controller.legal_name, contact: controller.contact };
  }

  /** @param isWhole whether all notices are there: some have an unknown version then */
  #noticesUnknownBecause(isWhole: boolean): CheckId {
    if (this.context.manifest === null) return 'manifest.format';
    if (!isWhole) return 'completeness.runs';
    return this.files.findings.outcomeOf('record.format') === 'indeterminate' ? 'record.format' : 'entry.format';
  }

  #cover(): { readonly coverage: Coverage | null; readonly tail: StreamTail } {
    const { manifest, batches, size } = this.context;
    this.#runs.finish();
    if (manifest === null) {
      this.#countPolicies(false);
      return { coverage: null, tail: NO_TAIL };
    }
    const coverage = coverageOf(manifest, this.#runs.complete, batches, size);
    const { held } = this.#runs;
    const policies = verifyCoverage({ manifest, coverage, held, batches, size, findings: this.files.findings });
    this.#policyVerdict = worst(this.#policyVerdict, verdictOf('completeness.runs', policies));
    this.#countPolicies(policies === 'fail');
    return { coverage, tail: tailOf(coverage.consents.stream, held, batches, size) };
  }

  #countPolicies(isCut: boolean): void {
    const { batches, size } = this.context;
    const counted = verifyPolicyCounts({ batches, size, policies: this.#policies, isCut }, this.files.findings);
    this.#policyVerdict = worst(this.#policyVerdict, verdictOf('completeness.policies', counted));
  }

  /** @param verdict of the checks at the end, which is joined with that of the record by itself */
  #finishListed(list: ConsentList, index: number, verdict: Verdict, isErased: boolean): void {
    const { batch, version, verdict: own } = this.#consents.row(index);
    // A batch that cannot be read proves nothing of the entries that claim to be in it.
    const existedBy = this.context.batches.has(batch) ? (this.context.times.endOf(batch)?.time ?? null) : null;
    list.evaluate(index, {
      verdict: worst(own, verdict),
      isErased,
      erasureVerdict: this.#erasures.verdictOn(this.#consents.eventIdOf(index)),
      existedBy,
      text: this.#documents.publicationOfReference(version),
    });
  }

  async #finishWatched(index: number, verdict: Verdict, isErased: boolean): Promise<void> {
    const row = this.#consents.row(index);
    const text = await this.#documents.textOfReference(row.version);
    const configuration = await this.#documents.configurationOfReference(row.configuration);
    this.context.watch?.finish({ verdict, text, configuration, isErased });
  }
}
