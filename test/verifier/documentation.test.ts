import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { ConsentRecordV2 } from '../../schemas/events/consent-recorded.js';
import { SEALED_RECORD_SCHEMAS } from '../../schemas/events/sealed-event.js';
import { CHECK_IDS, CHECKS, type CheckId } from '../../verifier-cli/src/index.js';

const FORMAT = new URL('../../docs/evidence-format.md', import.meta.url);
const text = readFileSync(FORMAT, 'utf8');

/** The lines of one chapter that are rows of a table about code. */
function rows(chapter: number): string[] {
  const part = text.slice(text.indexOf(`## ${chapter}.`), text.indexOf(`## ${chapter + 1}.`));
  return part.split('\n').filter((line) => line.startsWith('| `'));
}

/** A row of the published table of checks. */
function checkRow(id: CheckId): string {
  const { meaning, required, fails, opens } = CHECKS[id];
  const cells = [`\`${id}\``, meaning, fails ?? 'never', opens ?? 'never', required ? 'yes' : 'no'];
  return `| ${cells.join(' | ')} |`;
}

test('the published table of checks is the one of the code', () => {
  const [printed, published] = [CHECK_IDS.map(checkRow), rows(13)];
  if (process.env.UPDATE_DOCUMENTS === '1')
    writeFileSync(FORMAT, text.replace(published.join('\n'), printed.join('\n')));
  else expect(published).toEqual(printed);
});

test.each(Object.entries(SEALED_RECORD_SCHEMAS))(
  'the published fields of %s are those of its schema',
  (type, schema) => {
    const fields =
      rows(11)
        .find((row) => row.split('|')[1]?.includes(`\`${type}\``))
        ?.split('|')[2] ?? '';
    const published = /`([^`]+)`/.exec(fields)?.[1]?.split(', ') ?? [];
    // Of a consent, the newest version: §11 says what version 1 lacks.
    const newest = schema instanceof z.ZodObject ? schema : ConsentRecordV2;
    expect(published.toSorted()).toEqual(Object.keys(newest.shape).toSorted());
  },
);
