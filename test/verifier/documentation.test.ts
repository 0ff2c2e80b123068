import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { SEALED_RECORD_SCHEMAS } from '../../schemas/events/sealed-event.js';
import { CHECKS } from '../../verifier-cli/src/index.js';

const text = readFileSync(new URL('../../docs/evidence-format.md', import.meta.url), 'utf8');

/** The lines of one chapter that are rows of a table about code. */
function rows(chapter: number): string[] {
  const part = text.slice(text.indexOf(`## ${chapter}.`), text.indexOf(`## ${chapter + 1}.`));
  return part.split('\n').filter((line) => line.startsWith('| `'));
}

test('the published list of checks is the one of the code', () => {
  const checks = Object.entries(CHECKS);
  expect(rows(13)).toEqual(
    checks.map(([id, { meaning, required }]) => `| \`${id}\` | ${meaning} | ${required ? 'yes' : 'no'} |`),
  );
});

test.each(Object.entries(SEALED_RECORD_SCHEMAS))(
  'the published fields of %s are those of its schema',
  (type, schema) => {
    const fields =
      rows(11)
        .find((row) => row.split('|')[1]?.includes(`\`${type}\``))
        ?.split('|')[2] ?? '';
    const published = /`([^`]+)`/.exec(fields)?.[1]?.split(', ') ?? [];
    expect(published.toSorted()).toEqual(Object.keys(schema.shape).toSorted());
  },
);
