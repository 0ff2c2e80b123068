import type { ErasureReceipt } from '../../api/types.js';
import type { Formats } from '../../i18n/formats.js';
import type { Messages } from '../../i18n/messages.js';

type Stated = Pick<ErasureReceipt, 'finished_at' | 'erased_records' | 'deleted_approval_tokens' | 'remains'>;
type Words = Messages['erasures'];
type Forms = Pick<Formats, 'dateTime' | 'number'>;

/** The answer to the person, without the terms of an operator. */
export function statementForPerson(receipt: Stated, words: Words, formats: Forms): readonly string[] {
  const { remains, erased_records: records, deleted_approval_tokens: tokens, finished_at: finishedAt } = receipt;
  if (finishedAt === null) return [words.inProgress];
  if (records === 0 && tokens === 0) return [words.forPerson.nothingFound];
  const { backups_until: until, backup_retention_days: days } = remains;
  const isCleaned = remains.scrubbed_at !== null && !remains.keys_sampled;
  return [
    words.forPerson.erased(formats.dateTime(finishedAt), formats.number(records)),
    ...(isCleaned ? [] : [words.forPerson.remnants]),
    ...(until === null || days === null ? [words.forPerson.backupsUnknown] : []),
    ...(until !== null && days !== null && days > 0 ? [words.forPerson.backupsUntil(formats.dateTime(until))] : []),
    words.forPerson.copies,
    words.forPerson.stays,
  ];
}

/**
 * States in the language of the reader which data an erasure destroyed and which can remain, for
 * the operator. The service has the same sentences in English (src/erasure/show-erasure.ts).
 */
export function statementOf(receipt: Stated, words: Words, formats: Forms): readonly string[] {
  const { remains, erased_records: records, deleted_approval_tokens: tokens, finished_at: finishedAt } = receipt;
  if (finishedAt === null) return [words.inProgress];
  if (records === 0 && tokens === 0) return [words.nothingFound];
  return [
    remains.keys_sampled ? words.keysSampled : words.keysDestroyed,
    remains.scrubbed_at === null ? words.notScrubbed : words.scrubbed(formats.dateTime(remains.scrubbed_at)),
    backupsText(remains, words, formats),
    words.copies,
  ];
}

function backupsText(remains: Stated['remains'], words: Words, formats: Forms): string {
  const { backups_until: until, backup_retention_days: days } = remains;
  if (until === null || days === null) return words.backupsUnknown;
  return days === 0 ? words.noBackups : words.backupsRemain(formats.dateTime(until), formats.number(days));
}
