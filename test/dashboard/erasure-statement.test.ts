import { describe, expect, test } from 'vitest';
import { en } from '../../dashboard/src/i18n/en/index.js';
import { tr } from '../../dashboard/src/i18n/tr/index.js';
import { statementForPerson, statementOf } from '../../dashboard/src/pages/erasures/statement.js';
import { statementOf as statementOfService } from '../../src/erasure/index.js';

const FORMATS = { dateTime: (iso: string) => iso, number: String };
const FINISHED = new Date('2026-11-23T10:00:00Z');
const LATER = new Date('2026-12-23T10:00:00Z');

interface Case {
  readonly finishedAt?: Date | null;
  readonly records?: number;
  readonly isSampled?: boolean;
  readonly scrubbedAt?: Date;
  readonly days?: number;
}

const CASES: Readonly<Record<string, Case>> = {
  'in progress': { finishedAt: null },
  'without a record': { records: 0 },
  'with backups of unknown age': {},
  'with sampled keys, and without backups': { isSampled: true, days: 0 },
  'after a scrub, with backups': { scrubbedAt: LATER, days: 30 },
};

describe.each(Object.entries(CASES))('an erasure %s', (_name, found) => {
  const { finishedAt = FINISHED, records = 1, isSampled = false, scrubbedAt = null, days = null } = found;
  const backupsUntil = days === null ? null : LATER;
  const receipt = {
    finished_at: finishedAt?.toISOString() ?? null,
    erased_records: records,
    deleted_approval_tokens: 0,
    remains: {
      keys_sampled: isSampled,
      scrubbed_at: scrubbedAt?.toISOString() ?? null,
      backup_retention_days: days,
      backups_until: backupsUntil?.toISOString() ?? null,
    },
  };
  const service = statementOfService(
    { finishedAt },
    {
      isAnythingDestroyed: records > 0,
      areKeysSampled: isSampled,
      scrubbedAt,
      backupRetentionDays: days,
      backupsUntil,
    },
  );
  const beginnings = (sentences: readonly string[]) => sentences.map((sentence) => sentence.slice(0, 45));

  test('is stated as the service states it', () => {
    const shown = statementOf(receipt, en.erasures, FORMATS);
    expect(beginnings(shown)).toEqual(beginnings(service));
  });

  test('is stated to the person without the terms of an operator', () => {
    const shown = [en, tr].map(({ erasures }) => statementForPerson(receipt, erasures, FORMATS).join(' '));
    for (const text of shown) expect(text).not.toMatch(/WAL|scrub|key|anahtar|database|veritaban|planner/i);
    for (const text of days !== null && days > 0 ? shown : []) expect(text).toContain(LATER.toISOString());
  });

  test('is stated in Turkish', () => {
    const shown = statementOf(receipt, tr.erasures, FORMATS);
    expect(shown).toHaveLength(service.length);
    expect(shown.filter((sentence) => beginnings(service).includes(sentence.slice(0, 45)))).toEqual([]);
    if (days !== null && days > 0) expect(shown.join(' ')).toContain(LATER.toISOString());
  });
});
