import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { CHECK_IDS } from '../../verifier-cli/src/findings/checks.js';
import { englishDetail, finding, stated } from '../../verifier-cli/src/findings/finding.js';
import { FINDING_TEXTS, type FindingCode, findingCodes } from '../../verifier-cli/src/findings/finding-texts.js';
import { en } from '../../verifier-cli/src/i18n/en/index.js';
import { languageOf } from '../../verifier-cli/src/i18n/language.js';
import { standingText } from '../../verifier-cli/src/i18n/standing-text.js';
import { tr } from '../../verifier-cli/src/i18n/tr/index.js';
import {
  htmlPage,
  memorySource,
  RecordWatch,
  recordText,
  reportPage,
  terminalReport,
  type VerificationReport,
  verifyPackage,
} from '../../verifier-cli/src/index.js';
import { ConsentList } from '../../verifier-cli/src/list/consent-list.js';
import { consentsText } from '../../verifier-cli/src/list/consents-text.js';
import type { ConsentListing } from '../../verifier-cli/src/list/listed-consent.js';
import { renderHtml } from '../../verifier-cli/src/rendering/markup.js';
import { recordPage } from '../../verifier-cli/src/show/record-page.js';
import type { ShownRecord } from '../../verifier-cli/src/show/shown-record.js';
import { ROOT, sourceFiles } from '../architecture/import-graph.js';
import { fixtureAuthority, LEDGER_KEY, VERIFIED_AT } from '../support/ledger-fixture.js';
import { fixtureUuid } from '../support/ledger-fixture-events.js';
import { buildPackage, type PackageHooks } from '../support/package-builder.js';
import { bundleCommand } from './bundled-command.js';
import { verifierKey } from './support.js';

const authority = fixtureAuthority();
const Tree = z.record(z.string(), z.unknown());

/** Every text by its path. A text with parameters is written with lists of numbers in their places. */
function textsOf(tree: unknown, path = ''): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [name, value] of Object.entries(Tree.parse(tree))) {
    const here = path === '' ? name : `${path}.${name}`;
    if (typeof value === 'string') found.set(here, value);
    else if (typeof value === 'function') found.set(here, String(value(['7'], ['8'], ['9'], ['10'])));
    else for (const [inner, text] of textsOf({ ...Object(value) }, here)) found.set(inner, text);
  }
  return found;
}

const { checks: _, finding: __, ...englishTexts } = en;
const { checks: ___, finding: ____, ...turkishTexts } = tr;
const [english, turkish] = [textsOf(englishTexts), textsOf(turkishTexts)];

/** Texts without words of a language, and words that both languages share. */
const SAME =
  /^(?:report\.sha256|report\.site|report\.terminal\.labels\.site|words\.months\.|evidence\.run|report\.ofTotal|report\.terminal\.amount|record\.successorId)/;

describe('texts', () => {
  test('are the same ones in both languages', () => {
    expect([...turkish.keys()].sort()).toEqual([...english.keys()].sort());
    for (const id of CHECK_IDS) expect(tr.checks(id)).not.toBe(en.checks(id));
  });

  test('are translated', () => {
    const same = [...turkish].filter(([path, text]) => !SAME.test(path) && text === english.get(path));
    expect(same).toEqual([]);
    const empty = [...turkish].filter(([, text]) => text === '').map(([path]) => path);
    expect(empty).toEqual([]);
  });

  test('are used', () => {
    const program = sourceFiles('verifier-cli/src')
      .filter((file) => !file.includes('/i18n/'))
      .map((file) => readFileSync(resolve(ROOT, file), 'utf8'))
      .join();
    const templates = ['page', 'lookup'].map((name) =>
      readFileSync(resolve(ROOT, `verifier-cli/src/browser/${name}.template`), 'utf8'),
    );
    const build = readFileSync(resolve(ROOT, 'verifier-cli/build-page.js'), 'utf8');
    const words = new Set((program + templates.join() + build).match(/\w+/g));
    const unused = [...english.keys()].filter((path) => {
      const name = path.split('.').filter((part) => !/^\d+$/.test(part));
      const parts = name.filter((part) => (part.match(/\w+/g) ?? []).every((word) => words.has(word)));
      return parts.length < Math.min(2, name.length);
    });
    expect(unused).toEqual([]);
  });

  test('of the page are those that the templates name', () => {
    const named = ['page', 'lookup', 'published-trust']
      .map((name) => readFileSync(resolve(ROOT, `verifier-cli/src/browser/${name}.template`), 'utf8'))
      .join();
    const names = [...named.matchAll(/data-(?:text|label)="(\w+)"/g)].map(([, name]) => name);
    for (const name of names) expect(standingText(tr.page, name)).not.toBe('');
    const written = Object.keys(en.page.standing).filter((name) => !names.includes(name));
    expect(written).toEqual(['privateAlone', 'privateServed', 'privateSave', 'privateOffline']);
    expect(() => standingText(tr.page, 'toString')).toThrow('no text');
  });
});

test.each([
  ['tr', 'tr'],
  ['tr-TR', 'tr'],
  ['EN-us', 'en'],
  ['de', null],
  ['', null],
])('the tag %j is the language %j', (tag, language) => {
  expect(languageOf(tag)).toBe(language);
});

interface Checked {
  readonly report: VerificationReport;
  readonly listing: ConsentListing;
  readonly shown: ShownRecord;
}

async function verified(hooks: PackageHooks, isTrusted: boolean): Promise<Checked> {
  const watch = RecordWatch.of(fixtureUuid('c3'));
  const list = new ConsentList(100);
  const trust = isTrusted
    ? { trustAnchors: [authority.root.der], ledgerKeys: [verifierKey(LEDGER_KEY.verifierKey)] }
    : { trustAnchors: [], ledgerKeys: [] };
  const source = memorySource(buildPackage(authority, hooks));
  const report = await verifyPackage(source, { ...trust, at: VERIFIED_AT }, { watch, list });
  if (watch?.shown == null) throw new Error('the package has no record c3');
  return { report, listing: list.listing, shown: watch.shown };
}

/** Removes the parts that are not translated: findings, texts of the package, ids. */
const withoutForeign = (html: string): string =>
  html.replaceAll(/<bdi[^>]*>.*?<\/bdi>|<code[^>]*>.*?<\/code>|<pre[^>]*>.*?<\/pre>/gs, '');

/** Sentences of the English texts without parameters. */
const SENTENCES = [...english.values(), ...CHECK_IDS.map((id) => en.checks(id))].filter(
  (text) => /^[A-Z].{11,}$/.test(text) && !text.includes('7'),
);

const CASES: readonly [string, PackageHooks, boolean][] = [
  ['an honest package', {}, true],
  ['a package without key and root', {}, false],
  [
    'a forged package',
    {
      entryLines: (lines) =>
        lines.map((line) => ({ ...line, entry: String(line.entry).replace('"rejected"', '"accepted"') })),
    },
    true,
  ],
  ['a package whose time stamps cannot be read', { token: () => ({ imprintHash: 'sha1' }) }, true],
  ['a package of a development ledger', { manifest: (manifest) => ({ ...manifest, development: true }) }, true],
];

describe.each(CASES)('%s in Turkish', (_name, hooks, isTrusted) => {
  let checked: Checked;

  beforeAll(async () => {
    checked = await verified(hooks, isTrusted);
  });

  test('has no English sentence in report and record', () => {
    const { report, listing, shown } = checked;
    const html = withoutForeign(renderHtml(reportPage(report, tr, listing)) + renderHtml(recordPage(shown, tr)));
    const plain = html.replaceAll('&#39;', "'").replaceAll('&quot;', '"');
    expect(SENTENCES.filter((sentence) => plain.includes(sentence))).toEqual([]);
    expect(html).toContain('lang="tr"');
  });

  test('shows no English finding, except as a technical detail that is marked so', () => {
    const { report } = checked;
    const page = renderHtml(reportPage(report, tr)).replaceAll('&#39;', "'").replaceAll('&quot;', '"');
    const details = new Set(report.checks.flatMap((check) => [check, ...check.problems].map(englishDetail)));
    const marked = [...page.matchAll(/(.{22})<bdi lang="en">(.*?)<\/bdi>/gs)];
    for (const [, before, detail = ''] of marked) {
      expect(before).toBe('Teknik ayrıntı:</bdi> ');
      expect(details).toContain(detail);
    }
    const text = terminalReport(report, tr);
    for (const printed of [page, text])
      expect(printed).not.toMatch(/the certificate of .* expires|not considered sound/);
    if (report.sound_until !== null) expect(text).toMatch(/sertifikasının süresi doluyor|sağlam sayılmıyor/);
    const unmarked = page.replaceAll(/<bdi lang="en">.*?<\/bdi>/gs, '');
    const printed = text.replaceAll(/Teknik ayrıntı: .*/g, '');
    const english = report.checks.flatMap(({ problems }) => problems).filter(({ message }) => message !== '');
    expect(english.filter(({ message }) => unmarked.includes(message) || printed.includes(message))).toEqual([]);
  });

  test('says the same on a terminal', () => {
    const text = terminalReport(checked.report, tr);
    const { word } = tr.words.verdicts[checked.report.verdict];
    expect(text.startsWith(word.toLocaleUpperCase('tr'))).toBe(true);
    expect(text).toContain('Kanıtlanmayanlar');
    expect(recordText(checked.shown, tr)).toContain('Bu kaydın denetimleri');
    expect(consentsText(checked.listing.consents, checked.listing, false, tr)).toMatch(/reddedildi|kabul edildi/);
  });
});

test('a forged record is explained in Turkish', async () => {
  const { report } = await verified(CASES[2]?.[1] ?? {}, true);
  const finding = 'girdi 1 numaralı grubun 4 sırasında değil: yol köke götürmüyor';
  expect(renderHtml(reportPage(report, tr))).toContain(`<bdi>${finding}</bdi>`);
  expect(terminalReport(report, tr)).toContain(finding);
  expect(terminalReport(report, en)).toContain('the entry is not in batch 1 at index 4: the path does not lead');
});

test.each([
  ['{', 'girdi geçersiz: Metin geçerli JSON değil.'],
  ['{"v":1,"v":1}', 'girdi geçersiz: Bir nesnede aynı üye adı iki kez var.'],
  ['{"v":1}', 'girdi geçersiz: yayımlanan şemaya uymuyor: '],
])('the parser’s reason to refuse %s is in Turkish', async (entry, expected) => {
  const replaced: PackageHooks = {
    entryLines: (lines) => lines.map((line, i) => (i === 0 ? { ...line, entry } : line)),
  };
  const { report } = await verified(replaced, true);
  expect(terminalReport(report, tr)).toContain(expected);
  expect(renderHtml(reportPage(report, tr))).toContain(expected);
});

test('the page of a report states its language, and dates are in it', async () => {
  const { report } = await verified({}, true);
  expect(htmlPage('Rapor', 'tr', reportPage(report, tr))).toContain('<html lang="tr">');
  expect(renderHtml(reportPage(report, tr))).toContain('Defterin durumu: 1 Mart 2026, 10:49 UTC.');
  expect(renderHtml(reportPage(report, tr))).toContain(
    'Bu 8 kaydın hiçbiri damgalandıktan sonra değiştirilmedi (son damga en geç 1 Mart 2026, 10:49 UTC).',
  );
});

describe('with the package alone', () => {
  test('the first line says what is missing, and who publishes it', async () => {
    const { report } = await verified({}, false);
    const [line] = terminalReport(report, en).split('\n');
    expect(line).toMatch(
      /^INDETERMINATE, as of an unproved time: This file alone proves nothing. Missing: the key of the/,
    );
    expect(line).toContain('ask the operator of “ledger.example/consents”');
    expect(line).toContain('Fixture TSA');
    expect(renderHtml(reportPage(report, en))).toContain(
      '<span class="statement">This file alone proves nothing. Missing:',
    );
    expect(terminalReport(report, tr).split('\n')[0]).toContain('Bu dosya tek başına hiçbir şey kanıtlamaz');
  });

  test('nothing is missing once key and root are given', async () => {
    const { report } = await verified({}, true);
    expect(terminalReport(report, en).split('\n')[0]).toContain('Every required check passed.');
    expect(report.trust.ledger_keys).toEqual([LEDGER_KEY.verifierKey]);
    expect(report.trust.roots).toEqual([
      { subject: expect.stringContaining('Fixture Root'), sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
    ]);
    expect(terminalReport(report, en, true)).toContain(`key given     ${LEDGER_KEY.verifierKey}`);
  });

  test('an invalid package is not asked for more', async () => {
    const { report } = await verified({ signedFiles: (files) => files.set('README.txt', new Uint8Array(3)) }, false);
    expect(terminalReport(report, en).split('\n')[0]).not.toContain('alone');
  });
});

test('the command takes a language, and refuses one that it does not have', () => {
  const command = bundleCommand();
  try {
    const file = command.write('package.zip', buildPackage(authority));
    const turkish = command.run('check', file, '--language', 'tr');
    expect(turkish.stdout).toMatch(/^BELİRSİZ, kanıtlanmamış bir zaman itibarıyla: Bu dosya tek başına/);
    expect(JSON.parse(command.run('check', file, '--language', 'tr', '--json').stdout).not_proved[0]).toBe(
      en.evidence.notWho,
    );
    const refused = command.run('list', file, '--language', 'xx');
    expect(refused.status).toBe(2);
    expect(refused.stderr).toContain('write en or tr');
  } finally {
    command.remove();
  }
});

/** Codes whose text has no words of its own. */
const WORDLESS: readonly FindingCode[] = ['objection-open', 'attachment-of', 'tags-of-batch'];
const PLACE = /\{(\w+)(?::([^}]*))?\}/g;

describe('findings', () => {
  test('have a text in both languages, with the same values', () => {
    for (const code of findingCodes()) {
      const places = [...FINDING_TEXTS[code].matchAll(PLACE)].filter(([, name]) => name !== 'where');
      const values = Object.fromEntries(
        places.map(([, name = '', format]) => [name, format === undefined ? `<${name}>` : 7_200_000]),
      );
      const [english, turkish] = [en, tr].map((texts) => texts.finding({ message: FINDING_TEXTS[code], code, values }));
      if (!WORDLESS.includes(code)) expect(turkish, code).not.toBe(english);
      expect(turkish, code).not.toMatch(/[{}]|undefined/);
      for (const [, name, format] of places) {
        if (format === undefined) expect(turkish, code).toContain(`<${name}>`);
        else expect(turkish, code).toMatch(format === 'duration' ? /\b2 sa\b/ : /7200000/);
      }
    }
  });

  test('name a field to a reader of a page, and an option to a reader of the command', () => {
    const option = /(?<![-\w])--[a-z]/;
    const asking = findingCodes().filter((code) => FINDING_TEXTS[code].includes('{where:'));
    expect(asking.length).toBeGreaterThan(4);
    for (const texts of [en, tr])
      for (const code of findingCodes()) {
        const found = stated({ code, values: {} });
        expect(texts.finding(found, 'page'), code).not.toMatch(option);
        expect(option.test(texts.finding(found)), code).toBe(asking.includes(code));
      }
    for (const [path, text] of [...english, ...turkish]) expect(text, path).not.toMatch(option);
  });

  test('state their values, also those that are findings, and leave braces of a package alone', () => {
    const notice = finding('version-publication', { version: '{notice}' });
    const found = stated(finding('notice-missing', { notice }));
    expect(found).toEqual({
      message: 'the publication of document version {notice} is not in the package',
      code: 'notice-missing',
      values: { notice: { code: 'version-publication', values: { version: '{notice}' } } },
    });
    expect(tr.finding(found)).toBe('{notice} metin sürümünün yayımlanması pakette yok');
    expect(stated(finding('unknown-events-may-count', { count: 1, name: 'erased' })).message).toBe(
      '1 event of an unknown version may be erased',
    );
  });

  test('are cut where a package fills them', () => {
    const found = stated(finding('disclosed-twice', { name: 'x'.repeat(10_000) }));
    expect(found.message).toHaveLength(401);
    expect(JSON.stringify(found).length).toBeLessThan(1000);
    expect(tr.finding(found)?.length).toBeLessThan(500);
  });

  test('name a detail in English at their end, where a report can mark it', () => {
    const detailed = findingCodes().filter((code) => FINDING_TEXTS[code].includes('{detail}'));
    expect(detailed.length).toBeGreaterThan(20);
    for (const code of detailed) {
      expect(FINDING_TEXTS[code]).toMatch(/\{detail\}$/);
      const sentence = tr.finding({ message: '', code, values: { detail: '<detail>', size: 1, time: 'T' } });
      expect(sentence).toMatch(/(?:^|\. )Teknik ayrıntı: <detail>$/);
    }
  });

  test('are used', () => {
    const program = sourceFiles('verifier-cli/src')
      .filter((file) => !file.includes('/i18n/') && !file.endsWith('/finding-texts.ts'))
      .map((file) => readFileSync(resolve(ROOT, file), 'utf8'))
      .join();
    const isBuilt = (code: string) =>
      ['-after-order', 'before-'].some((part) => code.startsWith(part) || code.endsWith(part));
    expect(findingCodes().filter((code) => !isBuilt(code) && !program.includes(`'${code}'`))).toEqual([]);
  });
});
