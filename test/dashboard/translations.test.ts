import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { en } from '../../dashboard/src/i18n/en/index.js';
import { tr } from '../../dashboard/src/i18n/tr/index.js';
import { ERROR_CODES } from '../../schemas/api/error-codes.js';
import { ROOT, sourceFiles } from '../architecture/import-graph.js';

const Tree = z.record(z.string(), z.unknown());

/** Every text by its path. A text with parameters is written with numbers in their places. */
function textsOf(tree: unknown, path = ''): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [name, value] of Object.entries(Tree.parse(tree))) {
    const here = path === '' ? name : `${path}.${name}`;
    if (typeof value === 'string') found.set(here, value);
    else if (typeof value === 'function') found.set(here, String(value('1', '2', '3')));
    else for (const [inner, text] of textsOf(value, here)) found.set(inner, text);
  }
  return found;
}

/** Names, and words that both languages share. */
const SAME = new Set([
  'audit.kinds.site',
  'audit.members.plan',
  'audit.members.sha256',
  'audit.site',
  'audit.columns.site',
  'common.product',
  'consents.laws.kvkk',
  'documents.mediaTypes.text/markdown',
  'documents.mediaTypes.text/html',
  'documents.site',
  'keys.modes.test',
  'secondFactor.has',
  'shell.chosenSite',
  'shell.siteSettings',
  'shell.languages.en',
  'shell.languages.tr',
  'wizard.names.site',
]);

/** The program, without the texts themselves. */
const program = sourceFiles('dashboard/src')
  .filter((file) => !file.includes('/i18n/') && !file.endsWith('panel-api.ts'))
  .map((file) => readFileSync(resolve(ROOT, file), 'utf8'))
  .join();

const [english, turkish] = [textsOf(en), textsOf(tr)];

test('every text is there in Turkish', () => {
  const others = [...english.keys()].filter((path) => !path.startsWith('errors.') && !turkish.has(path));
  expect(others).toEqual([]);
  expect([...english.keys()].filter((path) => path.startsWith('errors.') && !turkish.has(path))).toEqual([]);
});

test('no Turkish text is the English one, and none is empty', () => {
  const same = [...turkish].filter(([path, text]) => !SAME.has(path) && (text === english.get(path) || text === ''));
  expect(same).toEqual([]);
});

test('every text is used', () => {
  const unused = [...english.keys()]
    .map((path) => path.split('.').slice(0, 2))
    .filter(([area = '', name = '']) => !new RegExp(`\\b(?:${area}|words)\\.${name}\\b`).test(program))
    .filter(([area]) => area !== 'errors');
  expect(unused).toEqual([]);
});

test('errors are translated by codes that the service has', () => {
  const codes = Object.keys({ ...en.errors, ...tr.errors }).filter(
    (code) => code !== 'NO_ANSWER' && !(code in ERROR_CODES),
  );
  expect(codes).toEqual([]);
});

test('every action and every subject of the audit log is named, in both languages', () => {
  const service = sourceFiles('src').map((file) => readFileSync(resolve(ROOT, file), 'utf8'));
  const found = (pattern: RegExp) =>
    [...new Set(service.flatMap((text) => [...text.matchAll(pattern)].map(([, name = '']) => name)))].toSorted();
  const actions = found(/\baction: '([a-z_]+\.[a-z_]+)'/g);
  const kinds = found(/\bsubject: \{ kind: '([a-z_]+)'/g);
  expect(actions.length).toBeGreaterThan(50);
  for (const { audit } of [en, tr]) {
    expect(Object.keys(audit.actions).toSorted()).toEqual(actions);
    expect(Object.keys(audit.kinds)).toEqual(expect.arrayContaining(kinds));
  }
});
