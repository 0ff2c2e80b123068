import { z } from 'zod';
import { CONSENT_RECORDED, ConsentRecord } from '../../../schemas/events/consent-recorded.js';
import {
  DOCUMENT_VERSION_ACTIVATED,
  DOCUMENT_VERSION_PUBLISHED,
  DOCUMENT_VERSION_RETIRED,
  DocumentVersionPublishedRecord,
  DocumentVersionStateRecord,
} from '../../../schemas/events/notices.js';
import { isSealedEventType, SEALED_RECORD_SCHEMAS } from '../../../schemas/events/sealed-event.js';
import { AnySiteConfigRecord, isSiteConfigPublished } from '../../../schemas/events/site-config.js';
import { SUBJECT_ERASED, SubjectErasedRecord } from '../../../schemas/events/subject-erased.js';
import type { Manifest } from '../../../schemas/evidence/manifest.js';
import { EntryLine, PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import { Instant, Uuid } from '../../../schemas/evidence/primitives.js';
import type { Batches } from '../batches/batches.js';
import { ProofCache } from '../batches/proofs.js';
import { type Coverage, coverageOf, verifyCoverage } from '../completeness/coverage.js';
import { CompleteRuns } from '../completeness/runs.js';
import { Documents, type Resolution } from '../documents/documents.js';
import { judgePlace } from '../documents/judge-place.js';
import { Erasures } from '../erasure/erasures.js';
import type { PackageFiles } from '../files/package-files.js';
import { matchShape } from '../files/parse.js';
import { type Verdict, worst } from '../findings/verdict.js';
import { FilterRules } from '../manifest/filter.js';
import type { VerificationReport } from '../report/report.js';
import type { RecordWatch } from '../show/record-watch.js';
import { verifyClaimedTime } from '../time/claimed-times.js';
import type { ProvedTime, StampedTimes } from '../time/stamped-times.js';
import { Attachments } from './attachments.js';
import { type ConsentRow, ConsentTable } from './consent-table.js';
import { areDigestsSorted, verifyDisclosures } from './disclosures.js';
import { EntryOrder } from './entry-order.js';
import { EventIds } from './event-ids.js';
import { type ReadEntry, readEntry } from './read-entry.js';
import { Salts } from './salts.js';
import { streamProblem } from './stream-rules.js';
import { type RecordsSummary, SummaryCounter } from './summary.js';

/** What the entries are held against. */
export interface EntryContext {
  readonly manifest: Manifest | null;
  readonly batches: Batches;
  readonly times: StampedTimes;
  /** By batch, the stamp after which it was proved to be sealed. */
  readonly starts: ReadonlyMap<number, ProvedTime | null>;
  /** Milliseconds. */
  readonly maxDelay: number;
  /** The record to be shown, if one is. */
  readonly watch: RecordWatch | null;
}

export interface EntriesResult {
  readonly summary: RecordsSummary;
  /** Names of the attachment files that disclosures vouch for. */
  readonly attachments: ReadonlySet<string>;
  readonly texts: VerificationReport['texts'];
  /** Null without a manifest. */
  readonly coverage: Coverage | null;
}

const UNREAD: Resolution = { outcome: 'indeterminate', message: 'the record could not be read', term: null };

/** What an event says of the state of a document version. */
const STATES: ReadonlyMap<string, 'activated' | 'retired'> = new Map([
  [DOCUMENT_VERSION_ACTIVATED, 'activated'],
  [DOCUMENT_VERSION_RETIRED, 'retired'],
]);

const CommonRecord = z.looseObject({ event_id: Uuid, site_id: Uuid, created_at: Instant });

/** Verifies every entry of the package in one pass, and at its end what entries say of one another. */
export async function verifyEntries(files: PackageFiles, context: EntryContext): Promise<EntriesResult> {
  const pass = new EntriesPass(files, context);
  for await (const { line, value } of files.lines(PACKAGE_FILES.entries, EntryLine, 'entry.format')) {
    pass.counter.entries += 1;
    const read = readEntry(line, value, files.findings, context.watch);
    if (read !== null) await pass.accept(read);
  }
  return await pass.finish();
}

class EntriesPass {
  readonly counter = new SummaryCounter();
  readonly #order = new EntryOrder();
  readonly #eventIds = new EventIds();
  readonly #proofs: ProofCache;
  readonly #attachments: Attachments;
  readonly #documents: Documents;
  readonly #erasures: Erasures;
  readonly #runs: CompleteRuns;
  readonly #filter: FilterRules | null;
  readonly #consents = new ConsentTable();
  readonly #salts = new Salts();
  #knowsEveryType = true;

  constructor(
    readonly files: PackageFiles,
    readonly context: EntryContext,
  ) {
    this.#proofs = new ProofCache(files);
    this.#attachments = new Attachments(files);
    this.#documents = new Documents(files);
    this.#erasures = new Erasures(files.findings);
    this.#runs = new CompleteRuns(context.manifest, files.findings);
    this.#filter = context.manifest && new FilterRules(context.manifest.filter);
  }

  async accept(read: ReadEntry): Promise<void> {
    const { entry, findings } = read;
    this.#order.accept(read);
    if (!this.#eventIds.add(entry.event_id))
      findings.fail('entry.order', 'another entry is of the same event: an event is recorded once');
    this.#runs.accept(entry.stream, entry.revision);
    await this.#verifyPlace(read);
    const common = matchShape(CommonRecord, read.record);
    const problem = streamProblem(
      entry,
      common.ok ? common.value : null,
      this.context.manifest?.filter.site_id ?? null,
    );
    if (problem === null) findings.pass('entry.stream');
    else findings.fail('entry.stream', problem);
    if (common.ok) {
      const { times, starts, maxDelay } = this.context;
      const { batch } = read.source;
      const sealed = { after: starts.get(batch) ?? null, before: times.endOf(batch) };
      verifyClaimedTime(Date.parse(common.value.created_at), sealed, maxDelay, findings);
    }
    await this.#verifyRecord(read);
    const { watch } = this.context;
    if (watch?.wants(entry) === true) watch.accept(read, await this.#pathOf(read));
  }

  async #pathOf({ source }: ReadEntry): Promise<readonly Uint8Array[] | null> {
    const batch = this.context.batches.get(source.batch);
    return batch === undefined ? null : this.#proofs.pathOf(batch, source.index);
  }

  /** The entry's place in its batch; its verdict takes in that of the batch. */
  async #verifyPlace({ entry, source, leaf, findings }: ReadEntry): Promise<void> {
    const batch = this.context.batches.get(source.batch);
    if (batch === undefined) {
      findings.fail('entry.inclusion', `batch ${source.batch} is not enclosed`);
      return;
    }
    // What a batch that does not hold states of its size bounds nothing: its proofs could be endless.
    const isLookedUp = batch.verdict !== 'invalid';
    const problem = isLookedUp ? await this.#proofs.problemOf(batch, source.index, leaf) : null;
    if (!isLookedUp) findings.open('entry.inclusion', `not looked up, because batch ${source.batch} does not hold`);
    else if (problem === null) findings.pass('entry.inclusion');
    else findings.fail('entry.inclusion', problem);
    const run = batch.runs.find(({ stream }) => stream === entry.stream);
    if (run === undefined || entry.revision < run.first || entry.revision > run.last) {
      findings.fail('batch.streams', `batch ${source.batch} does not claim this place of the stream`);
    }
    findings.adopt(batch.verdict);
  }

  async #verifyRecord(read: ReadEntry): Promise<void> {
    const { entry, record, findings, source } = read;
    const place = { batch: source.batch, index: source.index };
    if (!isSealedEventType(entry.type)) {
      this.#knowsEveryType = false;
      this.#documents.addUnknown(record);
      findings.open('record.format', 'this verifier does not know events of this type');
      return;
    }
    if (entry.type === CONSENT_RECORDED) {
      await this.#verifyConsent(read);
      return;
    }
    if (source.disclosures.length > 0 || source.erased !== undefined) {
      findings.fail('disclosure.digest', 'only consents have values to disclose or to erase');
    }
    const parsed = matchShape<unknown>(SEALED_RECORD_SCHEMAS[entry.type], record);
    if (parsed.ok) findings.pass('record.format');
    else findings.fail('record.format', `the record cannot be used: ${parsed.reason}`);
    const version =
      entry.type === DOCUMENT_VERSION_PUBLISHED ? matchShape(DocumentVersionPublishedRecord, record) : null;
    if (version?.ok) this.#documents.addVersion(version.value, findings.verdict, place);
    const state = STATES.get(entry.type);
    const change = state === undefined ? null : matchShape(DocumentVersionStateRecord, record);
    if (state !== undefined && change?.ok) this.#documents.addState(state, change.value, place);
    const configuration = isSiteConfigPublished(entry.type) ? matchShape(AnySiteConfigRecord, record) : null;
    if (configuration?.ok) this.#documents.addConfiguration(configuration.value, record, findings.verdict, place);
    const erasure = entry.type === SUBJECT_ERASED ? matchShape(SubjectErasedRecord, record) : null;
    if (erasure?.ok)
      this.#erasures.add({ stream: entry.stream, revision: entry.revision }, erasure.value, findings.verdict);
  }

  async #verifyConsent({ entry, record, source, line, findings }: ReadEntry): Promise<void> {
    const parsed = matchShape(ConsentRecord, record);
    const { batch, index } = source;
    const place = { line, stream: entry.stream, revision: entry.revision, eventId: entry.event_id, batch, index };
    const erased = source.erased ?? null;
    const isDisclosed = source.disclosures.length > 0;
    if (!parsed.ok) {
      findings.fail('record.format', `the record cannot be used: ${parsed.reason}`);
      this.#consents.add({ ...place, verdict: findings.verdict, version: -1, configuration: -1, erased, isDisclosed });
      return;
    }
    const consent = parsed.value;
    if (!areDigestsSorted(consent._sd))
      findings.fail('record.format', 'the digests are not sorted, or one stands twice');
    else if (consent.valid_until !== null && consent.valid_until < consent.created_at)
      findings.fail('record.format', 'it ends (valid_until) before it begins (created_at)');
    else findings.pass('record.format');
    findings.open('record.proof-hash', "not checked: it needs the tenant's proof key, and proves nothing to others");
    const disclosures = verifyDisclosures(consent, source.disclosures, findings);
    this.#salts.accept(disclosures, findings);
    this.#filter?.verify(consent, disclosures, findings);
    await this.#attachments.verify(disclosures, findings);
    this.counter.consent(consent.decision, consent.created_at);
    this.counter.disclosed += disclosures.length;
    if (erased === null) this.counter.withheld += Math.max(0, consent._sd.length - source.disclosures.length);
    const version = this.#documents.referToVersion(consent);
    const configuration = this.#documents.referToConfiguration(consent);
    this.#consents.add({ ...place, verdict: findings.verdict, version, configuration, erased, isDisclosed });
  }

  async finish(): Promise<EntriesResult> {
    const coverage = this.#cover();
    const resolutions = await this.#documents.resolve();
    const isHistoryWhole = coverage?.notices.is_whole === true && this.#knowsEveryType;
    for (let i = 0; i < this.#consents.length; i += 1) {
      const row = this.#consents.row(i);
      const notes = this.context.watch?.notesOf({ event_id: row.eventId }) ?? null;
      const findings = this.#consents.findingsAt(row, this.files.findings, notes);
      for (const [check, index] of [
        ['document.version', row.version],
        ['document.configuration', row.configuration],
      ] as const) {
        const { outcome, message, term } = resolutions[index] ?? UNREAD;
        const misplaced = term === null || outcome === 'fail' ? null : judgePlace(term, row, isHistoryWhole);
        if (misplaced === null) findings.report(check, outcome, message);
        else findings.report(check, misplaced.outcome, misplaced.message);
      }
      if (row.erased !== null) {
        const { outcome, message } = this.#erasures.judge(row.erased, row);
        findings.report('erasure.proof', outcome, message);
      }
      const isErased = row.erased !== null || this.#erasures.isErased(row.eventId);
      if (isErased) this.counter.erased += 1;
      if (isErased && row.isDisclosed)
        findings.fail('erasure.values', 'a value is disclosed although the record is erased');
      else if (isErased) findings.pass('erasure.values');
      this.#consents.worsen(i, worst(row.verdict, findings.verdict));
      if (notes !== null) await this.#finishWatched(row, findings.verdict);
    }
    return {
      summary: this.counter.summary(this.#consents.length, this.#consents.tally()),
      attachments: this.#attachments.named,
      texts: await this.#documents.texts(resolutions),
      coverage,
    };
  }

  #cover(): Coverage | null {
    const { manifest, batches } = this.context;
    this.#runs.finish();
    if (manifest === null) return null;
    const coverage = coverageOf(manifest, this.#runs.complete, batches);
    verifyCoverage(manifest, coverage, this.files.findings);
    return coverage;
  }

  async #finishWatched(row: ConsentRow, verdict: Verdict): Promise<void> {
    const erasure = this.#erasures.isErased(row.eventId) || row.erased !== null;
    this.context.watch?.finish(verdict, await this.#documents.textOfReference(row.version), erasure);
  }
}
