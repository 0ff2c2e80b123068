import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { SEALED_RECORD_SCHEMAS } from '../../schemas/events/sealed-event.js';
import { CHECKS } from '../../verifier-cli/src/index.js';

const text = readFileSync(new URL('../../docs/evidence-format.md', import.meta.url), 'utf8');

test('the published list of checks is the one of the code', () => {
  const rows = Object.entries(CHECKS).map(
    ([id, check]) => `| \`${id}\` | ${check.meaning} | ${check.required ? 'yes' : 'no'} |`,
  );
  const published = text
    .slice(text.indexOf('## 13.'))
    .split('\n')
    .filter((line) => /^\| `[a-z]+\.[a-z-]+` \|/.test(line));
  expect(published).toEqual(rows);
});

test.each(Object.entries(SEALED_RECORD_SCHEMAS))(
  'the published fields of %s are those of its schema',
  (type, schema) => {
    const row =
      text
        .split('\n')
        .find((line) => line.startsWith('| `') && line.includes(`\`${type}\``) && line.split('|').length === 4) ?? '';
    const fields = row.split('|')[2] ?? '';
    const published = /`([^`]+)`/.exec(fields)?.[1]?.split(', ') ?? [];
    expect(published.toSorted()).toEqual(Object.keys(schema.shape).toSorted());
  },
);
