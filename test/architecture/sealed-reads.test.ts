import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { SEALED_TABLE_NAMES, SEALED_TABLES } from '../../src/platform/database/sealed-tables.js';
import { ROOT, sourceFiles } from './import-graph.js';

/** Files that take columns of a row past its seal, and why nothing is granted by them. */
const UNCHECKED: readonly (readonly [files: RegExp, reason: string])[] = [
  [/^src\/audit\//, 'compares the rows with each other; it checks every seal apart'],
  [
    /^src\/api\/panel\/(?:api-keys|documents|document-attachments|sites|webhooks)\.ts$|\/(?:list-users|list-sign-ins|list-passkeys|read-erasures)\.ts$/,
    'shows rows to users',
  ],
  [/^src\/accounts\/sign-in\/invitations\.ts$/, 'shows invitations to users'],

  [/^src\/evidence\/exports\/(?:create-export|exports)\.ts$/, 'shows exports; a package opens only with its own key'],
  [/^src\/evidence\/records\/(?:person-records|selection|test-records)\.ts$/, 'shows the short name of a document'],
  [/^src\/tenancy\/sites\/change-site\.ts$/, 'changes the row, which gets no seal if it was altered'],
  [/^src\/tenancy\/domains\/verify-site\.ts$/, 'changes the row, which gets no seal if it was altered'],
  [/^src\/tenancy\/documents\//, 'changes the rows, which get no seal if they were altered'],
  [/^src\/tenancy\/configuration\/draft\.ts$/, 'shows the draft of a configuration'],
  [
    /^src\/tenancy\/webhooks\/deliveries\.ts$/,
    'says that a webhook is paused; the worker reads the row through its seal',
  ],
  [/^src\/tenancy\/scans\/scan-target\.ts$/, 'finds sites, which the directory then reads through their seals'],
];

const CHECKED = SEALED_TABLE_NAMES.filter((table) => SEALED_TABLES[table].checkedBy === 'reading');
const LITERAL = /`(?:[^`\\]|\\.)*`|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g;
const CONSTANT = /\bconst ([A-Z_]+) =\s*(`(?:[^`\\]|\\.)*`|'(?:[^'\\\n]|\\.)*')/g;
const TABLE =
  /\b(?:from|join|update)\s+([a-z_.]+)(?:\s+(?:as\s+)?(?!(?:where|set|order|join|on|left|using|limit|for)\b)(\w+))?/gi;
const LIST = /\b(?:select|returning)\b([\s\S]*?)(?=\bfrom\b|\)\s*delete\b|$)/gi;
/** Keys find rows that are then checked; counts and conditions show nothing of a row. */
const HARMLESS = /^(?:|\$\d+|now\(\)|id|\w+_id|count\(.*|exists\s*\(.*|\(select count\(.*)$/;

const isChecked = (table: string): boolean => CHECKED.some((name) => name === table);
const UNSEALED: ReadonlySet<string> = new Set(CHECKED.flatMap((table) => [...SEALED_TABLES[table].unsealed]));

/** Columns of sealed tables that a statement takes without their seal. */
function takenBy(statement: string): readonly string[] {
  const tables = [...statement.matchAll(TABLE)].map(([, table = '', alias]) => ({ table, alias: alias ?? table }));
  const sealed = tables.filter(({ table }) => isChecked(table));
  const areAllSealed = tables.every(({ table }) => isChecked(table));
  return [...statement.matchAll(LIST)]
    .flatMap(([, list = '']) => list.split(','))
    .map((item) =>
      item
        .trim()
        .replace(/\s+as\s+["\w]+$/, '')
        .replace(/['"`)]+$/, ''),
    )
    .filter((item) => {
      const [, alias, column = ''] = /^\(*(\w+)\.(.*)$/s.exec(item) ?? [];
      if (alias === undefined) return areAllSealed && sealed.length > 0 && !HARMLESS.test(item) && !UNSEALED.has(item);
      return sealed.some((one) => one.alias === alias) && !HARMLESS.test(column) && !UNSEALED.has(column);
    });
}

/** Columns that a file takes past the seals, with the text of its constants in place of their names. */
function takenIn(text: string): readonly string[] {
  const code = text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
  const constants = new Map(
    [...code.matchAll(CONSTANT)].map(([, name = '', value = '']) => [name, value.slice(1, -1)]),
  );
  const whole = (literal: string) =>
    literal.replace(/\$\{([A-Z_]+)\}/g, (_, name: string) => constants.get(name) ?? name);
  const statements = (code.match(LITERAL) ?? []).map((literal) => whole(whole(literal)));
  return statements.filter((statement) => !statement.includes('${sealed(')).flatMap(takenBy);
}

const files = sourceFiles('src').map((file) => ({ file, text: readFileSync(resolve(ROOT, file), 'utf8') }));
const takers = files.filter(({ text }) => takenIn(text).length > 0).map(({ file }) => file);

test('a column of a sealed row is read through its seal, except where it is shown or the row is changed', () => {
  const found = files.flatMap(({ file, text }) =>
    UNCHECKED.some(([pattern]) => pattern.test(file)) ? [] : takenIn(text).map((column) => `${file}: ${column}`),
  );
  expect(found).toEqual([]);
});

test('every exception is needed', () => {
  const idle = UNCHECKED.filter(([pattern]) => !takers.some((file) => pattern.test(file)));
  expect(idle).toEqual([]);
});

test('a statement that takes a column past its seal is found, and one through its seal is not', () => {
  expect(takenIn("'select id, password_hash from users where id = $1'")).toEqual(['password_hash']);
  expect(takenIn('`select u.role, t.size from used t join users u on u.id = t.user_id`')).toEqual(['u.role']);
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a file
  expect(takenIn("const C = 'id, role'; `select ${C} from users`")).toEqual(['role']);
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a file
  expect(takenIn("`select ${sealed('users', 'u')} as user from users u`")).toEqual([]);
  expect(takenIn("'select id, last_used_at from api_keys'")).toEqual([]);
});

test('a table has a reader that checks its rows exactly if it is declared so', () => {
  const text = files.map((one) => one.text).join('\n');
  const read = SEALED_TABLE_NAMES.filter(
    (table) =>
      text.includes(`sealed('${table}', `) ||
      text.includes(`table: '${table}', where`) ||
      text.includes(`table: '${table}',\n    where`),
  );
  expect(read).toEqual(CHECKED);
});
