import type * as z from 'zod';
import { LEDGER_KEY_ANNOUNCED } from '../../../schemas/events/ledger-key.js';
import { LEDGER_POLICY_SET } from '../../../schemas/events/ledger-policy.js';
import {
  DOCUMENT_VERSION_ACTIVATED,
  DOCUMENT_VERSION_PUBLISHED,
  DOCUMENT_VERSION_RETIRED,
} from '../../../schemas/events/notices.js';
import { type ConsentType, SEALED_RECORD_SCHEMAS, type SealedEventType } from '../../../schemas/events/sealed-event.js';
import { SITE_CONFIG_PUBLISHED } from '../../../schemas/events/site-config.js';
import { SITE_SCANNED } from '../../../schemas/events/site-scanned.js';
import { SUBJECT_ERASED } from '../../../schemas/events/subject-erased.js';
import type { Documents, Notice } from '../documents/documents.js';
import type { SiteScans } from '../documents/site-scans.js';
import type { Erasures } from '../entries/erasures.js';
import type { ReadEntry } from '../entries/read-entry.js';
import { matchShape } from '../files/parse.js';
import { finding } from '../findings/finding.js';
import type { RecordWatch } from '../show/record-watch.js';

/** Every sealed type except those of consents. */
type PublicType = Exclude<SealedEventType, ConsentType>;
type RecordOf<T extends PublicType> = z.infer<(typeof SEALED_RECORD_SCHEMAS)[T]>;

const SHAPES: { readonly [T in PublicType]: z.ZodType<RecordOf<T>> } = SEALED_RECORD_SCHEMAS;

/** What a record changes, by the type of its event. */
export type PublicRecords = { readonly [T in PublicType]: (record: RecordOf<T>, read: ReadEntry) => void };

/** @param watch the record to be shown, or null if none is */
export function publicRecords(
  documents: Documents,
  scans: SiteScans,
  erasures: Erasures,
  watch: RecordWatch | null,
): PublicRecords {
  return {
    [LEDGER_POLICY_SET]: ({ number }, { entry, findings }) => {
      if (number !== entry.revision + 1) findings.fail('record.format', finding('policy-number-wrong'));
    },
    // `ledger.announcement` evaluates the keys, before all entries.
    [LEDGER_KEY_ANNOUNCED]: () => undefined,
    [DOCUMENT_VERSION_PUBLISHED]: (record, read) => documents.addVersion(record, noticeOf(record, read)),
    [DOCUMENT_VERSION_ACTIVATED]: (record, read) => documents.addState('activated', record, noticeOf(record, read)),
    [DOCUMENT_VERSION_RETIRED]: (record, read) => documents.addState('retired', record, noticeOf(record, read)),
    [SITE_CONFIG_PUBLISHED]: (record, read) => documents.addConfiguration(record, read.record, noticeOf(record, read)),
    [SITE_SCANNED]: (record, { source: { batch }, findings: { verdict } }) => scans.add({ record, batch, verdict }),
    [SUBJECT_ERASED]: (record, { entry, source: { batch }, findings }) => {
      const { stream, revision } = entry;
      watch?.acceptErasure(record, { stream, revision, batch }, findings.verdict);
      erasures.add({ stream, revision }, record, entry.person_tag, findings);
    },
  };
}

/** Verifies the form of a record, and passes it on to what it changes. */
export function verifyPublicRecord<T extends PublicType>(type: T, read: ReadEntry, records: PublicRecords): void {
  const { disclosures, ...marks } = read.source;
  const { erased, key_lost: keyLost, person } = marks;
  const isMarked = [erased, keyLost, person].some((mark) => mark !== undefined);
  const wrong = finding('disclosure-of-other-event');
  if (disclosures.length > 0 || isMarked) read.findings.fail('disclosure.digest', wrong);
  // Other checks verify the meaning of each mark.
  if (erased !== undefined) read.findings.fail('erasure.proof', wrong);
  if (keyLost !== undefined) read.findings.fail('disclosure.withheld', wrong);
  if (person !== undefined) read.findings.fail('disclosure.person', wrong);
  const parsed = matchShape(SHAPES[type], read.record);
  if (!parsed.ok) {
    read.findings.fail('record.format', finding('record-invalid', { reason: parsed.reason }));
    return;
  }
  read.findings.pass('record.format');
  records[type](parsed.value, read);
}

function noticeOf({ created_at: createdAt }: { readonly created_at: string }, { source, findings }: ReadEntry): Notice {
  const { verdict, cause, at } = findings;
  return { batch: source.batch, createdAt: Date.parse(createdAt), verdict, cause, at };
}
