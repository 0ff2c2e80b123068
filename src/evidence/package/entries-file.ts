import { timingSafeEqual } from 'node:crypto';
import { sha256Hex } from '../../../schemas/crypto/digest.js';
import type { SealedConsent } from '../../../schemas/events/consent-imported.js';
import { ConsentRecordedBody } from '../../../schemas/events/consent-recorded.js';
import { DOCUMENT_VERSION_PUBLISHED } from '../../../schemas/events/notices.js';
import {
  type ConsentType,
  isConsentType,
  parseBody,
  parseConsent,
  parseRecord,
} from '../../../schemas/events/sealed-event.js';
import { SITE_CONFIG_PUBLISHED } from '../../../schemas/events/site-config.js';
import { consentsStream, POLICY_STREAM } from '../../../schemas/events/streams.js';
import { namedVisitor } from '../../../schemas/evidence/disclosed-values.js';
import { decodeDisclosure } from '../../../schemas/evidence/disclosure.js';
import { escapedConsentEntryText } from '../../../schemas/evidence/entry.js';
import { erasureTag, type PersonOpening } from '../../../schemas/evidence/person-tag.js';
import type { EventLog } from '../../pipeline/event-log/port.js';
import type { Queryable } from '../../platform/database/pool.js';
import {
  assertGenuine,
  hmacSha256,
  NotGenuine,
  type ProofKeys,
  type RecordKeyring,
} from '../../platform/keys/index.js';
import { readEntries, type SealedEntry } from './entry-reader.js';
import { ExportFailed } from './errors.js';
import type { Disclose } from './filter.js';
import { revisionsOf } from './ledger-reader.js';
import { attachmentDigests, chooseDisclosures, readRecordKeys } from './personal-data.js';
import type { ReadmeSite } from './readme-facts.js';
import { runsOfRevisions, type Scope } from './scope.js';
import type { AbsentTag } from './tags-files.js';

/**
 * Checks proof hashes. An event that was altered before sealing agrees with the ledger, and only
 * its proof hash reveals the alteration.
 */
class GenuineEvents {
  readonly #keys = new Map<string, Uint8Array>();

  constructor(readonly keyring: ProofKeys) {}

  /**
   * Checks the proof hash of each entry.
   * @throws ExportFailed `proof-hash-differs` if an event differs from what the service wrote
   */
  async assertAll(entries: readonly SealedEntry[]): Promise<void> {
    for (const entry of entries) {
      if (this.#isGenuineConsent(entry)) continue;
      // The full check covers every event type and names the defect.
      await this.#assert(entry);
      await this.#remember(entry);
    }
  }

  /**
   * Fast check of a parsed consent whose key is cached.
   * @returns false if the full check must decide
   */
  #isGenuineConsent({ event, consent }: SealedEntry): boolean {
    const key = consent === null ? undefined : this.#keys.get(consent.record.proof_key_id);
    if (consent === null || key === undefined) return false;
    const { body, record } = consent;
    if (record.event_id !== event.id || event.stream !== consentsStream(record.site_id)) return false;
    return timingSafeEqual(hmacSha256(key, body.record), Buffer.from(body.proof_hash, 'hex'));
  }

  async #assert({ event }: SealedEntry): Promise<void> {
    try {
      await assertGenuine(event, this.keyring);
    } catch (error) {
      if (!(error instanceof NotGenuine)) throw error;
      throw new ExportFailed('proof-hash-differs', error.message, { cause: error });
    }
  }

  async #remember({ consent }: SealedEntry): Promise<void> {
    if (consent === null || this.#keys.has(consent.record.proof_key_id)) return;
    const { id, key } = await this.keyring.proofKeyById(consent.record.proof_key_id);
    this.#keys.set(id, key);
  }
}

export interface EntriesOptions {
  readonly db: Queryable;
  readonly eventLog: EventLog;
  readonly siteId: string;
  readonly keyring: ProofKeys & RecordKeyring;
  readonly scope: Scope;
  readonly fits: (record: SealedConsent) => boolean;
  readonly disclose: Disclose;
  /** Size of the checkpoint. */
  readonly size: number;
  /** Opens the person tag of a consent whose person is disclosed. Null if the package opens none. */
  readonly openTag: ((entry: SealedEntry) => Promise<PersonOpening | null>) | null;
  /** Called before every page. */
  readonly beforePage: (entries: number) => Promise<void>;
}

/** The attachments that a record discloses. */
export interface WantedAttachments {
  readonly eventId: string;
  readonly ids: readonly string[];
  /** SHA-256 of their contents, in hex. */
  readonly digests: readonly string[];
}

/** An entry of the package that serves as the example in its README. */
export interface ExampleEntry {
  /** Line number in `entries.ndjson`, counted from 1. */
  readonly line: number;
  readonly text: string;
  readonly batch: number;
  readonly index: number;
}

/** Maximum number of records with attachments in a package, because their list is held in memory. */
const MAX_ATTACHMENTS = 200_000;
/** A limit, because each Merkle batch has a file, and the manifest limits the number of files. */
const MAX_BATCHES = 180_000;

/** Writes the lines of `entries.ndjson`, and collects the data that the other files need. */
export class EntriesFile {
  readonly counts = { entries: 0, consents: 0, erased: 0, key_lost: 0 };
  /** Indexes of the enclosed leaves, by batch. */
  readonly leavesByBatch = new Map<number, number[]>();
  /** Batches of the enclosed events of the stream `policy`, sorted. */
  readonly policyBatches: number[] = [];
  readonly attachments: WantedAttachments[] = [];
  /** Erasure tags of the records that match and are not erased as of the checkpoint. */
  readonly notErased: AbsentTag[] = [];
  /**
   * SHA-256, in hex, of the enclosed document versions' contents; `configurations` has those of the
   * enclosed site configurations, with their records as JCS text.
   */
  readonly contents = new Set<string>();
  readonly configurations = new Map<string, string>();
  /** The site and its controller in the newest enclosed configuration. */
  site: ReadmeSite | null = null;
  /** The first consent, or the first entry if there are no consents. */
  example: ExampleEntry | null = null;
  #exampleIsConsent = false;
  /** Revisions of erasures that come after the run and name records of it. */
  readonly #supporting = new Set<number>();

  readonly #genuine: GenuineEvents;

  constructor(readonly options: EntriesOptions) {
    this.#genuine = new GenuineEvents(options.keyring);
  }

  /**
   * The lines of the file, each with its line feed, in pages.
   * @throws ExportFailed `too-large`, `log-and-ledger-differ`, `proof-hash-differs`
   */
  async *pages(): AsyncGenerator<readonly string[], void> {
    const { scope, siteId } = this.options;
    const stream = consentsStream(siteId);
    for (const run of scope.consents) yield* this.#run(run);
    const end = scope.consents.at(-1)?.last ?? -1;
    const behind = new Set([...this.#supporting].filter((revision) => revision > end));
    for (const run of runsOfRevisions(stream, behind)) yield* this.#run(run);
    for (const run of scope.notices) yield* this.#run(run);
    if (scope.policies !== null) yield* this.#run(scope.policies);
  }

  async *#run(run: Scope['consents'][number]): AsyncGenerator<readonly string[], void> {
    const { db, eventLog, beforePage } = this.options;
    for await (const page of readEntries(db, eventLog, run)) {
      await beforePage(this.counts.entries);
      await this.#genuine.assertAll(page);
      yield await this.#page(page);
    }
  }

  async #page(page: readonly SealedEntry[]): Promise<readonly string[]> {
    const { db, keyring, siteId, size, scope, openTag } = this.options;
    const consents = page.map((entry) =>
      isConsentType(entry.event.type) ? this.#readConsent(entry, entry.event.type) : null,
    );
    const enclosed = consents.filter((consent) => consent !== null && (consent.isFit || !scope.leavesOut));
    const keys = await readRecordKeys(
      db,
      keyring,
      siteId,
      enclosed.flatMap((consent) => consent?.eventId ?? []),
    );
    const erasures = await revisionsOf(db, consentsStream(siteId), [...new Set(keys.erasedBy.values())], size);
    const lines: string[] = [];
    for (const [i, entry] of page.entries()) {
      const consent = consents[i] ?? null;
      if (consent !== null && !consent.isFit && scope.leavesOut) continue;
      const { event, batch } = entry;
      const key = consent?.isFit === true ? keys.keys.get(event.id) : undefined;
      const disclosures = consent === null || key === undefined ? [] : this.#disclose(consent, key);
      const erasure = consent === null ? undefined : erasures.get(keys.erasedBy.get(event.id) ?? '');
      const isKeyLost = consent?.isFit === true && keys.lost.has(event.id);
      this.#count(entry, consent !== null, erasure !== undefined);
      if (isKeyLost) this.counts.key_lost += 1;
      if (erasure !== undefined) this.#supporting.add(erasure);
      else if (consent?.isFit === true && scope.showsAbsence && entry.personTag !== null)
        this.notErased.push({ tag: erasureTag(event.id), from: batch });
      this.#noteNotice(entry);
      const person = openTag !== null && isPersonNamed(disclosures) ? await openTag(entry) : null;
      lines.push(lineOf(entry, disclosures, { erasure, isKeyLost }, person));
    }
    return lines;
  }

  #readConsent({ event, recordText, consent }: SealedEntry, type: ConsentType): Consent {
    const record = consent?.record ?? parseConsent(type, recordText);
    const body = consent?.body ?? parseBody(ConsentRecordedBody, type, event.data);
    return { eventId: event.id, record, body, isFit: this.options.fits(record) };
  }

  #disclose({ eventId, record, body }: Consent, key: Uint8Array): string[] {
    const { disclose } = this.options;
    if (disclose === 'none') return [];
    const chosen = chooseDisclosures(key, record, body, disclose);
    if (chosen.hasAttachments) {
      const digests = attachmentDigests(chosen.disclosures);
      this.attachments.push({ eventId, ids: body.attachments, digests });
      if (this.attachments.length > MAX_ATTACHMENTS) {
        throw new ExportFailed(
          'too-large',
          `More than ${MAX_ATTACHMENTS} records have attachments. Choose a shorter time range, or disclose fewer fields.`,
        );
      }
    }
    return chosen.disclosures;
  }

  #count({ text, batch, index }: SealedEntry, isConsent: boolean, isErased: boolean): void {
    this.counts.entries += 1;
    if (isConsent) this.counts.consents += 1;
    if (isErased) this.counts.erased += 1;
    const indexes = this.leavesByBatch.get(batch);
    if (indexes === undefined) this.#addBatch(batch, index);
    else indexes.push(index);
    if (this.example === null || (isConsent && !this.#exampleIsConsent)) {
      this.example = { line: this.counts.entries, text, batch, index };
      this.#exampleIsConsent = isConsent;
    }
  }

  #addBatch(batch: number, index: number): void {
    if (this.leavesByBatch.size >= MAX_BATCHES) {
      throw new ExportFailed(
        'too-large',
        `The records are in more than ${MAX_BATCHES} Merkle batches. Choose a shorter time range.`,
      );
    }
    this.leavesByBatch.set(batch, [index]);
  }

  #noteNotice({ event, recordText, batch }: SealedEntry): void {
    if (event.stream === POLICY_STREAM) this.policyBatches.push(batch);
    else if (event.type === DOCUMENT_VERSION_PUBLISHED) {
      this.contents.add(parseRecord(DOCUMENT_VERSION_PUBLISHED, recordText).content_sha256);
    } else if (event.type === SITE_CONFIG_PUBLISHED) {
      this.configurations.set(sha256Hex(recordText), recordText);
      const { domain, controller } = parseRecord(SITE_CONFIG_PUBLISHED, recordText);
      // Revisions ascend: the last one is the newest.
      this.site = { domain, controller: controller.legal_name, contact: controller.contact };
    }
  }
}

/** A line of the file (`EntryLine`) with its line feed. */
function lineOf(
  entry: SealedEntry,
  disclosures: readonly string[],
  gap: { readonly erasure: number | undefined; readonly isKeyLost: boolean },
  person: PersonOpening | null,
): string {
  const { event, batch, index } = entry;
  const { erasure, isKeyLost } = gap;
  const erased =
    erasure === undefined ? '' : `,"erased":${JSON.stringify({ stream: event.stream, revision: erasure })}`;
  const lost = isKeyLost ? ',"key_lost":true' : '';
  const opened = person === null ? '' : `,"person":${JSON.stringify(person)}`;
  return `{"entry":${entryJson(entry)},"batch":${batch},"index":${index},"disclosures":${JSON.stringify(disclosures)}${erased}${lost}${opened}}\n`;
}

/** The entry's text as a JSON string. */
function entryJson({ event, text, previous, personTag, consent }: SealedEntry): string {
  if (consent === null || personTag === null) return JSON.stringify(text);
  const { stream, revision, id: eventId } = event;
  const parts = { stream, revision, previous, eventId, proofHash: consent.body.proof_hash, personTag };
  return `"${escapedConsentEntryText(parts, consent.escapedRecord)}"`;
}

function isPersonNamed(disclosures: readonly string[]): boolean {
  return namedVisitor(disclosures.map(decodeDisclosure).filter((disclosure) => disclosure !== null)) !== null;
}

interface Consent {
  readonly eventId: string;
  readonly record: SealedConsent;
  readonly body: ConsentRecordedBody;
  readonly isFit: boolean;
}
