import { expect, it } from 'vitest';
import { loadMigrations, migrationOf } from '../../../src/platform/database/load-migrations.js';
import { stepsThatNeedAStop } from '../../../src/platform/database/migrations/needed-stop.js';

const stating = (id: string, beside: string) => migrationOf(id, `-- Runs beside: ${beside}\n\nselect 1;`);
const first = [stating('0001-a/01', 'nothing'), stating('0001-a/02', 'nothing')];
const second = [stating('0002-b/01', '0001-a'), stating('0002-b/02', '0001-a')];
const third = [stating('0003-c/01', '0002-b')];

function stopsFor(migrations: readonly { id: string }[], applied: readonly string[]): string[] {
  const known = [...first, ...second, ...third].filter(({ id }) => migrations.some((one) => one.id === id));
  return stepsThatNeedAStop(known, new Set(applied)).map(({ id }) => id);
}

it('finds in the first line of every migration what may run beside it', () => {
  expect(loadMigrations().length).toBeGreaterThan(0);
  for (const { id, runsBeside } of loadMigrations()) if (id.startsWith('0001-')) expect(runsBeside, id).toBeNull();
});

it.each([
  ['nothing', 'create table a ();'],
  ['it in another line', 'select 1;\n-- Runs beside: nothing\n'],
  ['its own schema', '-- Runs beside: 0002-b\nselect 1;'],
  ['a later schema', '-- Runs beside: 0003-c\nselect 1;'],
])('refuses a migration that states %s', (_title, sql) => {
  expect(() => migrationOf('0002-b/01', sql)).toThrow('The');
});

it.each([
  ['a new database', [...first, ...second], [], []],
  ['a first migration that failed', first, ['0001-a/01'], []],
  ['the schema before', [...first, ...second], ['0001-a/01', '0001-a/02'], []],
  ['the schema before with a step that failed', [...first, ...second], ['0001-a/01', '0001-a/02', '0002-b/01'], []],
  ['an older schema than a step permits', [...first, ...second, ...third], ['0001-a/01', '0001-a/02'], ['0003-c/01']],
  [
    'an older schema, after a step in between failed',
    [...first, ...second, ...third],
    ['0001-a/01', '0001-a/02', '0002-b/01'],
    ['0003-c/01'],
  ],
])('knows the steps that need a stop: %s', (_title, migrations, applied, expected) => {
  expect(stopsFor(migrations, applied)).toEqual(expected);
});
