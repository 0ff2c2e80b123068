import type { ErasureReceipt } from '../../api/types.js';
import type { Formats } from '../../i18n/formats.js';
import type { Messages } from '../../i18n/messages.js';

type Stated = Pick<ErasureReceipt, 'finished_at' | 'erased_records' | 'deleted_approval_tokens' | 'remains'>;
type Words = Messages['erasures'];
type Forms = Pick<Formats, 'dateTime' | 'number'>;

/**
 * States in the language of the reader which data an erasure destroyed and which can remain. The
 * service has the same sentences in English (src/erasure/remains.ts).
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
