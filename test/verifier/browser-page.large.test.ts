import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { sha256 } from '../../schemas/crypto/digest.js';
import { decodeUtf8, toHex } from '../../schemas/crypto/encoding.js';
import { consentToken } from '../../schemas/events/consent-recorded.js';
import { Contradiction } from '../../schemas/evidence/contradiction.js';
import { verifyContradiction } from '../../verifier-cli/src/compare/contradiction.js';
import { en } from '../../verifier-cli/src/i18n/en/index.js';
import {
  htmlPage,
  memorySource,
  RecordWatch,
  reportPage,
  type VerificationReport,
  type VerifyOptions,
  verifyPackage,
} from '../../verifier-cli/src/index.js';
import { ConsentList } from '../../verifier-cli/src/list/consent-list.js';
import { renderHtml } from '../../verifier-cli/src/rendering/markup.js';
import { recordPage } from '../../verifier-cli/src/show/record-page.js';
import { ChromiumPage, chromiumPath } from '../support/chromium.js';
import { cosignatureLine, noteKey } from '../support/independent-tlog.js';
import { buildLedger, fixtureAuthority, LEDGER_KEY, VERIFIED_AT } from '../support/ledger-fixture.js';
import { fixtureConsent, fixtureDisclosure, fixtureUuid } from '../support/ledger-fixture-events.js';
import { titleNeeding } from '../support/missing-tools.js';
import { buildPackage, type PackageHooks } from '../support/package-builder.js';
import { PNG } from '../support/picture.js';
import { compareFiles } from './comparison.js';
import { makeLedger } from './dishonest-operator/ledger.js';
import { promiseOf } from './dishonest-operator/promise.js';
import { receiptOf } from './dishonest-operator/receipt.js';
import { TimeAuthority } from './dishonest-operator/time-authority.js';
import { honestPackage, VERIFIED_AT as OPERATOR_VERIFIED_AT } from './dishonest-operator/verification.js';
import { eventOf, makePlan, WORLDS } from './dishonest-operator/world.js';
import { verifierKey, verifyFixture } from './support.js';

const PAGE = fileURLToPath(new URL('../../verifier-cli/dist/consent-verify.html', import.meta.url));
const authority = fixtureAuthority();

test('the page is one file whose policy lets it load and send nothing', () => {
  const html = readFileSync(PAGE, 'utf8');
  const policy = /<meta http-equiv="Content-Security-Policy" content="([^"]*)">/.exec(html)?.[1] ?? '';
  expect(policy).toMatch(
    /^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'; img-src data:; connect-src 'none';/,
  );
  expect(policy).not.toContain('unsafe');
  const body = html.slice(html.indexOf('</script>'));
  expect(html.slice(0, html.indexOf('<script>')) + body).not.toMatch(/\b(?:src|href|action)=/);
  expect(body).toContain('MIT');
});

/** Packages that are right, and packages that are wrong in one layer after the other. */
const PACKAGES: Readonly<Record<string, PackageHooks>> = {
  honest: {},
  'with leaves for proofs': { proofForm: 'leaves' },
  'after a rotation of the key': { rotateAt: 4 },
  'with a text that was changed': {
    signedFiles: (files) => {
      for (const name of files.keys()) if (name.startsWith('notices/')) files.set(name, new Uint8Array([65]));
    },
  },
  'with an entry that was changed': {
    entryLines: (lines) =>
      lines.map((line) => ({
        ...line,
        entry: String(line.entry).replace('"decision":"rejected"', '"decision":"accepted"'),
      })),
  },
  'with an entry left out': { entryLines: (lines) => lines.filter((_, i) => i !== 2) },
  'with a token by SHA-1': { token: () => ({ imprintHash: 'sha1' }) },
  'with a manifest signed by another ledger': { certificate: (note) => note.replace('ledger.example', 'ledger.other') },
  'with hostile names': {
    manifest: (manifest) => ({ ...manifest, exported_by: '<img src=x onerror=alert(1)>\u202e' }),
    signedFiles: (files) => files.set('<svg onload=alert(1)>', new Uint8Array()),
  },
  'cut short': { zip: (bytes) => bytes.map((octet, i) => (i === 900 ? octet ^ 0x55 : octet)) },
};

/** Outcomes and counts of every check, as a page shows them: first those that did not pass. */
const SHOWN = `[...document.querySelectorAll('#result table.checks tbody tr')].map((row) => [
  row.querySelector('code').textContent,
  row.querySelector('.mark').textContent,
  row.lastElementChild.textContent,
].join(' '))`;

/**
 * The record that a page shows, as HTML in the way of the command: what browsers leave unescaped in
 * texts is escaped.
 */
const RECORD_HTML = `document.querySelector('#record > article').outerHTML
  .replace(/>[^<]*</g, (text) => text.replace(/["']/g, (mark) => mark === '"' ? '&quot;' : '&#39;'))`;

function expectedRows({ checks }: VerificationReport): string[] {
  const words = { pass: '✓ passed', fail: '✗ failed', indeterminate: '? open', 'not-applicable': '– not applicable' };
  const places = { fail: 0, indeterminate: 0, pass: 1, 'not-applicable': 2 };
  const sorted = checks.toSorted((a, b) => places[a.outcome] - places[b.outcome]);
  return sorted.map(({ id, outcome, counts }) => {
    const total = counts.pass + counts.fail + counts.indeterminate;
    return `${id} ${words[outcome]} ${total === 0 ? '' : `${counts.pass} of ${total}`}`;
  });
}

describe.skipIf(chromiumPath === undefined || !existsSync(PAGE))(
  titleNeeding(
    'Chromium, or the built page,',
    chromiumPath !== undefined && existsSync(PAGE),
    'in Chromium, from disk, without a network',
  ),
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'consent-verify-page-'));
    const file = (name: string) => join(folder, name);
    let page: ChromiumPage;

    beforeAll(async () => {
      const pem = Buffer.from(authority.root.der).toString('base64').replace(/.{64}/g, '$&\n');
      writeFileSync(file('roots.pem'), `-----BEGIN CERTIFICATE-----\n${pem}\n-----END CERTIFICATE-----\n`);
      writeFileSync(file('ledger.key'), `${LEDGER_KEY.verifierKey}\n`);
      for (const [name, hooks] of Object.entries(PACKAGES))
        writeFileSync(file(`${name}.zip`), buildPackage(authority, hooks));
      page = await ChromiumPage.open(chromiumPath ?? '');
      await page.send('Network.emulateNetworkConditions', {
        offline: true,
        latency: 0,
        downloadThroughput: 0,
        uploadThroughput: 0,
      });
    });

    afterAll(async () => {
      await page?.close();
      rmSync(folder, { recursive: true });
    });

    beforeEach(async () => {
      await page.goto(pathToFileURL(PAGE).href);
      await page.evaluate(`document.getElementById('at').value = '${VERIFIED_AT.toISOString().slice(0, 19)}'`);
    });

    const status = () => page.evaluate(`document.getElementById('status').textContent`);
    const verdictOf = async () => {
      await page.until(async () => String(await status()).startsWith('Checked: '));
      return String(await status());
    };

    test.each(Object.entries(PACKAGES))(
      'a package %s: verdict and outcomes of the command line',
      async (name, hooks) => {
        const expected = await verifyFixture(authority, buildPackage(authority, hooks));
        await page.dropFiles(300, 300, ['roots.pem', 'ledger.key', `${name}.zip`].map(file));
        expect(await verdictOf()).toBe(`Checked: ${expected.verdict}.`);
        expect(await page.evaluate(SHOWN)).toEqual(expectedRows(expected));
        expect(await page.evaluate(`document.querySelectorAll('img, svg, iframe, object, embed, link').length`)).toBe(
          0,
        );
      },
    );

    test('moves the focus to the verdict, and searches, filters and shows the records', async () => {
      await page.dropFiles(300, 300, ['roots.pem', 'ledger.key', 'honest.zip'].map(file));
      await verdictOf();
      expect(await page.evaluate(`document.activeElement.className`)).toBe('verdict valid');
      const rows = () => page.evaluate(`document.querySelectorAll('.record-list tbody tr').length`);
      const set = (selector: string, value: string) =>
        page.evaluate(`{
          const field = document.querySelector(${JSON.stringify(`.record-list ${selector}`)});
          field.value = ${JSON.stringify(value)};
          field.dispatchEvent(new Event('input'));
        }`);
      expect(await rows()).toBe(8);
      await set('select[aria-label=Decision]', 'rejected');
      expect(await rows()).toBe(1);
      await set('select[aria-label=Decision]', 'any decision');
      await set('select[aria-label=Verdict]', 'erased');
      expect(await rows()).toBe(2);
      await set('select[aria-label=Verdict]', 'any verdict');
      await set('input[type=search]', 'VISITOR OF C5');
      expect(await rows()).toBe(1);
      await page.evaluate(`document.querySelector('.record-list tbody button').click()`);
      await page.until(async () => String(await recordShown()).includes('visitor of c5'));
    });

    test('files chosen one after the other, a key that is typed; without them nothing is believed', async () => {
      await page.chooseFiles('#package', [file('honest.zip')]);
      const bare: Partial<VerifyOptions> = { trustAnchors: [], ledgerKeys: [] };
      const untrusted = await verifyFixture(authority, buildPackage(authority), bare);
      expect(await verdictOf()).toMatch(/^Checked: indeterminate\. This file alone proves nothing\. Missing: /);
      expect(await page.evaluate(SHOWN)).toEqual(expectedRows(untrusted));
      await page.chooseFiles('#roots', [file('roots.pem')]);
      await page.evaluate(`{
      const field = document.getElementById('keys-text');
      field.value = ${JSON.stringify(LEDGER_KEY.verifierKey)};
      field.dispatchEvent(new Event('change'));
    }`);
      await page.until(async () => (await status()) === 'Checked: valid.');
      expect(await page.evaluate(`document.querySelector('#verdict .verdict strong').textContent`)).toBe('Valid');
    });

    test('reports a file that is not a package, and a key that is not a key', async () => {
      writeFileSync(file('rubbish.zip'), 'not a ZIP');
      await page.chooseFiles('#package', [file('rubbish.zip')]);
      await page.until(async () => (await status()) === 'The file is not a ZIP.');
      await page.evaluate(`document.getElementById('language-tr').click()`);
      expect(await status()).toBe('Dosya ZIP değil.');
      await page.evaluate(`document.getElementById('language-en').click()`);
      await page.evaluate(`document.getElementById('keys-text').value = 'rubbish'`);
      await page.evaluate(`document.getElementById('form').requestSubmit()`);
      await page.until(async () => String(await status()).includes('is not a verifier-key line'));
    });

    test('it asks for nothing, stores nothing, and breaks no rule of its policy', async () => {
      await page.dropFiles(300, 300, ['roots.pem', 'ledger.key', 'honest.zip'].map(file));
      expect(await verdictOf()).toBe('Checked: valid.');
      const requests = page
        .events('Network.requestWillBeSent')
        .map((event) => z.looseObject({ request: z.looseObject({ url: z.string() }) }).parse(event).request.url);
      expect(new Set(requests)).toEqual(new Set([pathToFileURL(PAGE).href]));
      expect(page.events('Log.entryAdded')).toEqual([]);
      expect(page.events('Runtime.exceptionThrown')).toEqual([]);
      expect(await page.evaluate('localStorage.length + sessionStorage.length + document.cookie.length')).toBe(0);
      const refused = await page.evaluate(
        `(() => { try { document.body.innerHTML = '<p>'; return false; } catch { return true; } })()`,
      );
      expect(refused).toBe(true);
    });

    /** Shows one record of the package that was checked, and waits for it. */
    const showRecord = async (name: string) => {
      await page.evaluate(`document.getElementById('record-name').value = ${JSON.stringify(name)}`);
      await page.evaluate(`document.getElementById('record-form').requestSubmit()`);
      const told = () => page.evaluate(`document.getElementById('record-status').textContent`);
      await page.until(async () => !['', 'Searching …'].includes(String(await told())));
      return String(await told());
    };
    const isHidden = (id: string) => page.evaluate(`document.getElementById('${id}').hidden`);
    const recordShown = () => page.evaluate(`document.getElementById('record').textContent`);

    test.each(['honest', 'with an entry that was changed'])(
      'one record of a package %s is shown as the command shows it',
      async (name) => {
        expect(await isHidden('record-form')).toBe(true);
        await page.dropFiles(300, 300, ['roots.pem', 'ledger.key', `${name}.zip`].map(file));
        await verdictOf();
        expect(await isHidden('record-form')).toBe(false);
        for (const label of ['c3', 'c2', 'c1', 'e0']) {
          const watch = RecordWatch.of(fixtureUuid(label));
          await verifyFixture(authority, readFileSync(file(`${name}.zip`)), {}, watch);
          const shown = watch?.shown ?? null;
          if (shown === null) throw new Error(`no record ${label}`);
          expect(await showRecord(consentToken(fixtureUuid(label)).toUpperCase().replace('CT', 'ct'))).toBe(
            `Record shown below: ${shown.verdict}.`,
          );
          expect((await page.evaluate(RECORD_HTML)) === renderHtml(recordPage(shown, en)), label).toBe(true);
        }
        expect(await page.evaluate(`document.querySelectorAll('img, svg, iframe, object, embed, link').length`)).toBe(
          0,
        );
        expect(page.events('Runtime.exceptionThrown')).toEqual([]);
      },
    );

    test('reports a missing record and an invalid name, and removes a shown record with its package', async () => {
      await page.dropFiles(300, 300, ['roots.pem', 'ledger.key', 'honest.zip'].map(file));
      await verdictOf();
      expect(await showRecord('c3')).toBe('Enter an event id, a consent token (ct_…) or a proof hash.');
      expect(await showRecord(fixtureUuid('c9'))).toBe('The package contains no such record.');
      expect(await isHidden('record-actions')).toBe(true);
      await showRecord(createHash('sha256').update('proof of c3').digest('hex'));
      expect(await recordShown()).toContain('We use cookies. <script>alert(1)</script>');
      await page.evaluate(`document.getElementById('record-close').click()`);
      expect(await recordShown()).toBe('');
      await showRecord(fixtureUuid('c3'));
      await page.chooseFiles('#package', [file('cut short.zip')]);
      await page.until(async () => (await status()) === 'Checked: invalid.');
      expect(await recordShown()).toBe('');
    });

    test('a receipt is taken in place of a package, and its record is shown at once', async () => {
      const operator = new TimeAuthority();
      const ledger = makeLedger(makePlan(WORLDS.small), operator);
      writeFileSync(file('receipt.json'), receiptOf(ledger, 'alice 1', { disclose: 'none' }));
      await page.chooseFiles('#package', [file('receipt.json')]);
      expect(await verdictOf()).toMatch(/^Checked: indeterminate\. This file alone proves nothing\. Missing: /);
      expect(await page.evaluate(`document.querySelector('#verdict .statement').textContent`)).toMatch(
        /^This file alone proves nothing\. Missing: the key of the ledger/,
      );
      await page.until(async () => String(await recordShown()).includes('A receipt does not show what was recorded'));
    });

    test('the proof of a contradiction is checked too', async () => {
      const forked = buildLedger(authority, {
        world: ({ batches }) => {
          const consent = batches[1]?.find(({ type }) => type === 'ConsentRecorded.v1');
          if (consent !== undefined) consent.record = { ...consent.record, decision: 'withdrawn' };
        },
      });
      const [first, second] = [buildLedger(authority), forked].map(({ checkpoints }) =>
        decodeUtf8(checkpoints.get(2)?.note ?? new Uint8Array()),
      );
      const proof = { format: 'consent-ledger-contradiction', version: 1, announcements: [], kind: 'checkpoints' };
      writeFileSync(file('proof.json'), JSON.stringify({ ...proof, first, second }));
      writeFileSync(file('none.json'), JSON.stringify({ ...proof, first, second: first }));
      await page.chooseFiles('#package', [file('proof.json')]);
      await page.until(async () => (await status()) === 'Checked the contradiction proof: indeterminate.');
      await page.chooseFiles('#keys', [file('ledger.key')]);
      await page.until(async () => (await status()) === 'Checked the contradiction proof: proved.');
      expect(await page.evaluate(`document.querySelector('#verdict .verdict p').textContent`)).toMatch(
        /^Proved: the ledger contradicts itself.*signed two different/,
      );
      expect(await isHidden('record-form')).toBe(true);
      await page.chooseFiles('#package', [file('none.json')]);
      await page.until(async () => (await status()) === 'Checked the contradiction proof: not proved.');
    });

    test('speaks Turkish where the reader chooses so, and keeps what it shows', async () => {
      await page.dropFiles(300, 300, ['roots.pem', 'ledger.key', 'honest.zip'].map(file));
      await verdictOf();
      await showRecord(fixtureUuid('c3'));
      const rows = await page.evaluate(`document.querySelectorAll('.record-list tbody tr').length`);
      await page.evaluate(`document.getElementById('language-tr').click()`);
      expect(await page.evaluate('document.documentElement.lang')).toBe('tr');
      expect(await page.evaluate('document.title')).toBe('Rıza kanıtını denetleyin');
      expect(await status()).toBe('Denetlendi: geçerli.');
      expect(await page.evaluate(`document.querySelector('#verdict .verdict strong').textContent`)).toBe('Geçerli');
      expect(await page.evaluate(`document.querySelector('#record h2').textContent`)).toBe('Kaydedilenler');
      expect(await page.evaluate(`document.querySelectorAll('.record-list tbody tr').length`)).toBe(rows);
      expect(await page.evaluate(`document.getElementById('roots-text').getAttribute('aria-label')`)).toMatch(/^PEM/);
      expect(
        await page.evaluate(
          `[...document.querySelectorAll('[data-text]')].filter((one) => one.textContent === '').length`,
        ),
      ).toBe(0);
      await page.evaluate(`document.getElementById('language-en').click()`);
      expect(await status()).toBe('Checked: valid.');
    });

    test('shows the picture of a signature, and offers it as a file', async () => {
      const signed = buildPackage(authority, {
        world: ({ batches }) => {
          const reference = { sha256: toHex(sha256(PNG)), media_type: 'image/png', size: PNG.length };
          const disclosures = [fixtureDisclosure('c3 picture', 'signature_image', reference)];
          const at = batches[1]?.findIndex(({ label }) => label === 'c3') ?? -1;
          batches[1]?.splice(at, 1, fixtureConsent('c3', 14, { disclosures, attachments: [PNG] }));
        },
      });
      writeFileSync(file('signed.zip'), signed);
      await page.dropFiles(300, 300, ['roots.pem', 'ledger.key', 'signed.zip'].map(file));
      await verdictOf();
      await showRecord(fixtureUuid('c3'));
      const width = `document.querySelector('#record img.picture').naturalWidth`;
      await page.until(async () => (await page.evaluate(width)) === 1);
      expect(await page.evaluate(`document.querySelector('#record .buttons').textContent`)).toBe(
        `Save the file: signature-${toHex(sha256(PNG)).slice(0, 12)}.png`,
      );
    });

    /** Writes into a field, as a reader does. */
    const type = (id: string, value: string) =>
      page.evaluate(`{
        const field = document.getElementById('${id}');
        field.value = ${JSON.stringify(value)};
        field.dispatchEvent(new Event('change'));
      }`);
    const textOf = async (selector: string) =>
      String(await page.evaluate(`document.querySelector(${JSON.stringify(selector)})?.innerText ?? ''`));
    const chooseFirst = (...names: readonly string[]) => page.chooseFiles('#package', names.map(file));
    /** Presses a button that saves a file. @returns its content */
    const saved = async (id: string) => {
      await page.evaluate(`{
        const make = URL.createObjectURL;
        URL.createObjectURL = (blob) => { window.saved = blob.text(); return make.call(URL, blob); };
        document.getElementById('${id}').click();
      }`);
      return String(await page.evaluate('window.saved'));
    };

    describe('with what one file cannot prove', () => {
      const operator = new TimeAuthority();
      const plan = makePlan(WORLDS.small);
      const ledger = makeLedger(plan, operator);
      const rewritten = makePlan(WORLDS.small);
      const { record } = eventOf(rewritten, 'alice 1');
      record.decision = record.decision === 'accepted' ? 'withdrawn' : 'accepted';
      const files: Readonly<Record<string, string | Uint8Array>> = {
        'root.der': operator.anchor,
        'first.vkey': plan.keys.first.line,
        'whole.zip': honestPackage(ledger, {}),
        'alice.zip': honestPackage(ledger, { person: 'alice' }),
        'receipt of alice.json': receiptOf(ledger, 'alice 1'),
        'rewritten.zip': honestPackage(makeLedger(rewritten, operator), {}),
        'promise.json': JSON.stringify({ data: { promise: promiseOf(plan, 'alice 1') } }),
        ...Object.fromEntries(ledger.checkpoints.map(({ size, note }) => [`${size}.note`, note])),
      };

      beforeAll(() => {
        for (const [named, content] of Object.entries(files)) writeFileSync(file(named), content);
      });

      beforeEach(() =>
        page.evaluate(`document.getElementById('at').value = '${OPERATOR_VERIFIED_AT.toISOString().slice(0, 19)}'`),
      );

      const compared = async (word: string) => {
        await page.until(async () => String(await status()).endsWith(`Compared: ${word}.`));
        return textOf('#verdict .verdict:has(.side)');
      };

      test('the verdict, its time and the person are in the first view of a phone, and the inputs are folded', async () => {
        await page.send('Emulation.setDeviceMetricsOverride', {
          width: 390,
          height: 844,
          deviceScaleFactor: 1,
          mobile: true,
        });
        try {
          await type('person', 'alice');
          await page.evaluate('window.scrollTo(0, document.body.scrollHeight)');
          await page.dropFiles(200, 400, ['root.der', 'first.vkey', 'alice.zip'].map(file));
          expect(await verdictOf()).toBe('Checked: valid.');
          const place = `['strong', '.when', '.who'].map((part) => {
            const { top, bottom } = document.querySelector('#verdict .verdict ' + part).getBoundingClientRect();
            return top >= 0 && bottom <= 300;
          })`;
          expect(await page.evaluate(place)).toEqual([true, true, true]);
          expect(await textOf('#verdict .when')).toMatch(/^State of the ledger: 2 March 2026, \d\d:\d\d UTC\.$/);
          expect(await textOf('#verdict .who')).toBe('Person: alice (visitor_id), as you asked.');
          expect(await page.evaluate(`document.getElementById('inputs').open`)).toBe(false);
          expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
          await type('person', 'bob');
          await page.until(async () => (await status()) === 'Checked: invalid.');
          expect(await textOf('#verdict .verdict')).toContain('You asked about: bob.');
        } finally {
          await page.send('Emulation.clearDeviceMetricsOverride');
        }
      });

      test('a second file is compared as the command compares it, with the proof as a file', async () => {
        await page.chooseFiles('#roots', [file('root.der')]);
        await chooseFirst('alice.zip');
        await verdictOf();
        await page.chooseFiles('#compare', [file('whole.zip')]);
        expect(await compared('undecided')).toContain('in the field “Public key of the ledger” of the verifier page');
        await page.chooseFiles('#keys', [file('first.vkey')]);
        expect(await compared('one history')).toContain(
          `whole.zip: a package of ${plan.size} batches, stamped at 2026-`,
        );
        expect(await isHidden('save-proof')).toBe(true);
        await page.chooseFiles('#compare', [file('rewritten.zip')]);
        expect(await compared('contradiction')).toContain('signed two different');
        const banners = `[...document.querySelectorAll('#verdict .verdict strong')].map((word) => word.textContent)`;
        expect(await page.evaluate(banners)).toEqual(['Contradiction', 'Valid']);
        const expected = await compareFiles(
          honestPackage(ledger, { person: 'alice' }),
          readFileSync(file('rewritten.zip')),
          [plan.keys.first],
        );
        const proof = Contradiction.parse(JSON.parse(await saved('save-proof')));
        expect(await verifyContradiction(proof, [plan.keys.first], new Date())).toEqual({
          outcome: 'proved',
          statement: expected.statement,
        });
        await page.evaluate(`document.getElementById('language-tr').click()`);
        expect(await textOf('#verdict .verdict strong')).toBe('Çelişki');
      });

      test('two checkpoint notes are compared, over a consistency proof that the reader gives', async () => {
        const [from, to] = [4, 16];
        await page.chooseFiles('#keys', [file('first.vkey')]);
        await chooseFirst(`${from}.note`);
        await page.until(async () => String(await status()).startsWith('A checkpoint note contains no records.'));
        await page.dropFiles(300, 300, [file(`${to}.note`)]);
        expect(await compared('undecided')).toContain(`/checkpoints/${to}/consistency/${from} from the service`);
        const hashes = ledger.tree.consistency(from, to).map(toHex);
        writeFileSync(file('consistency.json'), JSON.stringify({ data: { from, size: to, hashes } }));
        await page.chooseFiles('#consistency', [file('consistency.json')]);
        expect(await compared('one history')).toContain(`${from}.note: a checkpoint note of ${from} batches`);
        expect(await isHidden('record-form')).toBe(true);
      });

      test('of two files in one choice the second is compared, and one that is dropped on the field', async () => {
        await page.dropFiles(300, 300, ['first.vkey', 'whole.zip', 'receipt of alice.json'].map(file));
        expect(await compared('one history')).toContain('receipt of alice.json: a receipt of');
        await page.evaluate(`{
          for (const one of document.querySelectorAll('#inputs, #inputs details')) one.open = true;
          document.getElementById('compare').scrollIntoView({ block: 'center' });
        }`);
        const place = z.tuple([z.number(), z.number()]);
        const [x, y] = place.parse(
          await page.evaluate(
            `(({ x, y, height }) => [x + 20, y + height / 2])(document.getElementById('compare').getBoundingClientRect())`,
          ),
        );
        await page.dropFiles(x, y, [file('alice.zip')]);
        await page.until(async () => (await textOf('#verdict')).includes('alice.zip: a package of'));
        expect(await textOf('#verdict')).toContain('whole.zip: a package of');
        expect(await textOf('#inputs > summary')).toBe('Files and options (whole.zip, alice.zip)');
      });

      test('a promise is held against the package, and the proof of a broken one is a file', async () => {
        await page.dropFiles(300, 300, ['root.der', 'first.vkey', 'whole.zip', 'promise.json'].map(file));
        expect(await verdictOf()).toBe('Checked: valid.');
        expect(await textOf('#result')).toContain('promise.json: kept');
        expect(await isHidden('save-breach')).toBe(true);
        await chooseFirst('rewritten.zip');
        await page.until(async () => (await status()) === 'Checked: invalid.');
        expect(await textOf('#result')).toContain('promise.json: broken');
        const proof = Contradiction.parse(JSON.parse(await saved('save-breach')));
        expect((await verifyContradiction(proof, [plan.keys.first], new Date())).outcome).toBe('proved');
      });
    });

    test('counts the witnesses whose keys the reader gave', async () => {
      const witness = noteKey('witness.example/w1', 4);
      const cosigned = buildPackage(authority, {
        files: (files) => {
          const note = Buffer.from(files.get('checkpoints/5.note') ?? '').toString();
          const line = cosignatureLine(witness, note.slice(0, note.lastIndexOf('\n\n') + 1), 1_772_400_000);
          files.set('checkpoints/5.cosignatures', Buffer.from(line));
        },
      });
      writeFileSync(file('cosigned.zip'), cosigned);
      writeFileSync(file('witness.vkey'), `${noteKey('witness.example/w2', 4).vkey}\n`);
      await type('require-witnesses', '1');
      await page.dropFiles(300, 300, ['roots.pem', 'ledger.key', 'cosigned.zip'].map(file));
      await page.until(async () => String(await status()).startsWith('You require 1 witness, and gave 0 keys'));
      await type('witnesses-text', witness.vkey);
      await page.until(async () => (await status()) === 'Checked: valid.');
      expect(await textOf('#result')).toContain('witness.example/w1 confirmed it at');
      await page.chooseFiles('#witnesses', [file('witness.vkey')]);
      await type('require-witnesses', '2');
      await page.until(async () => (await status()) === 'Checked: indeterminate.');
      expect(await textOf('#result')).toContain('witness.example/w2 did not confirm it');
      await type('witnesses-text', 'rubbish');
      await page.until(async () => String(await status()).includes('not a verifier-key line of a witness'));
    });

    test.each(['en', 'tr'])(
      'names no option of the command, and gives each field a label and a sentence (%s)',
      async (language) => {
        await page.evaluate(`document.getElementById('language-${language}').click()`);
        const fields = `[...document.querySelectorAll('#form input, #form textarea, #record-form input')].map((field) => [
        field.id,
        field.labels[0]?.textContent ?? field.getAttribute('aria-label') ?? '',
        document.getElementById(field.getAttribute('aria-describedby'))?.textContent ?? '',
      ])`;
        const described = z.array(z.tuple([z.string(), z.string(), z.string()])).parse(await page.evaluate(fields));
        expect(described.length).toBeGreaterThan(15);
        for (const [id, label, sentence] of described) {
          expect(label, id).not.toBe('');
          expect(sentence, id).toMatch(/^\p{Lu}[^.]{8,200}\.$/u);
        }
        await page.dropFiles(300, 300, [file('honest.zip')]);
        await page.until(
          async () => (await page.evaluate(`document.querySelector('#verdict .verdict') !== null`)) === true,
        );
        const body = String(
          await page.evaluate(
            `[...document.querySelectorAll('main *')].map((one) => one.childElementCount === 0 ? one.textContent : '').join('\\n')`,
          ),
        );
        expect(body).toContain(language === 'en' ? 'Public key of the ledger' : 'Defterin açık anahtarı');
        expect(body).not.toMatch(/(?<![-\w])--[a-z]/);
      },
    );

    test('prints page numbers, the verdict with a list of contents first, and each record in one row', async () => {
      const list = new ConsentList(8);
      const source = memorySource(buildPackage(authority));
      const trust = { trustAnchors: [authority.root.der], ledgerKeys: [verifierKey(LEDGER_KEY.verifierKey)] };
      const report = await verifyPackage(source, { ...trust, at: VERIFIED_AT }, { list });
      const { consents } = list.listing;
      const listing = {
        consents: Array.from({ length: 100 }, (_, i) => consents[i % consents.length] ?? []).flat(),
        count: 100,
      };
      writeFileSync(file('report.html'), htmlPage('Report', 'en', reportPage(report, en, listing)));
      await page.goto(pathToFileURL(file('report.html')).href);
      const pages = async () => {
        const { data } = await page.send('Page.printToPDF', {
          preferCSSPageSize: true,
          paperWidth: 8.27,
          paperHeight: 11.69,
        });
        const pdf = Buffer.from(z.string().parse(data), 'base64').toString('latin1');
        return pdf.match(/\/Type\s*\/Page\b/g)?.length ?? 0;
      };
      const short = await pages();
      expect(short).toBeLessThanOrEqual(8);
      await page.evaluate(`document.querySelector('.all-details input').click()`);
      expect(await pages()).toBeGreaterThan(2 * short);
      const rules = `[...document.styleSheets[0].cssRules].filter((rule) => rule instanceof CSSPageRule).map(({ cssText }) => cssText).join()`;
      expect(await page.evaluate(rules)).toMatch(/counter\(page\).*counter\(pages\)/);
      await page.send('Emulation.setEmulatedMedia', { media: 'print' });
      try {
        const contents = `(({ display, breakAfter }) => [display, breakAfter])(getComputedStyle(document.querySelector('.verdict ~ .contents, header ~ .contents')))`;
        expect(await page.evaluate(contents)).toEqual(['block', 'page']);
        const titles = `[...document.querySelectorAll('.contents a')].map((one) => document.querySelector(one.getAttribute('href') + ' > h2').textContent === one.textContent)`;
        expect(await page.evaluate(titles)).toEqual(Array.from({ length: 10 }, () => true));
      } finally {
        await page.send('Emulation.setEmulatedMedia', { media: '' });
      }
    });

    test.each([
      ['A4', 8.27, 11.69],
      ['Letter', 8.5, 11],
    ])('a certificate is one sheet of %s, whatever the record says', async (paper, paperWidth, paperHeight) => {
      await page.dropFiles(300, 300, ['roots.pem', 'ledger.key', 'honest.zip'].map(file));
      await verdictOf();
      await showRecord(fixtureUuid('c3'));
      await page.evaluate(`window.print = () => { printed = document.body.className; }`);
      const certificate = async () => {
        await page.evaluate(`globalThis.printed = ''; document.getElementById('certificate-print').click()`);
        await page.until(async () => (await page.evaluate('printed')) === 'prints-certificate');
        return String(await page.evaluate(`document.getElementById('certificate').textContent`));
      };
      const pages = async () => {
        const { data } = await page.send('Page.printToPDF', { preferCSSPageSize: true, paperWidth, paperHeight });
        const pdf = Buffer.from(z.string().parse(data), 'base64');
        if (process.env.SCREENSHOTS !== undefined) writeFileSync(join(process.env.SCREENSHOTS, `${paper}.pdf`), pdf);
        return pdf.toString('latin1').match(/\/Type\s*\/Page\b/g)?.length ?? 0;
      };
      const digest = createHash('sha256')
        .update(readFileSync(file('honest.zip')))
        .digest('hex');
      expect(await certificate()).toContain(digest);
      expect(await pages()).toBe(1);
      // Once printed, the page is as before.
      expect(await page.evaluate(`document.body.className + document.getElementById('certificate').textContent`)).toBe(
        '',
      );
      // Every value as long and as wide as a record can make it: the last line of the sheet stays on it.
      await certificate();
      await page.evaluate(`for (const value of document.querySelectorAll('#certificate dd, #certificate pre'))
        value.textContent = 'W M '.repeat(200);`);
      await page.send('Emulation.setEmulatedMedia', { media: 'print' });
      const bottomOf = (part: string) =>
        page.evaluate(`document.querySelector('#certificate ${part}').getBoundingClientRect().bottom`);
      expect(Number(await bottomOf('.signature'))).toBeLessThanOrEqual(Number(await bottomOf('.paper')));
      await page.send('Emulation.setEmulatedMedia', { media: '' });
      expect(await pages()).toBe(1);
    });

    test('it looks as it should', async () => {
      const folderOfShots = process.env.SCREENSHOTS;
      await page.dropFiles(300, 300, ['roots.pem', 'ledger.key', 'honest.zip'].map(file));
      expect(await verdictOf()).toBe('Checked: valid.');
      if (folderOfShots !== undefined) writeFileSync(join(folderOfShots, 'page.png'), await page.screenshot());
      await showRecord(fixtureUuid('c3'));
      if (folderOfShots !== undefined) writeFileSync(join(folderOfShots, 'record.png'), await page.screenshot());
      for (const width of [1100, 320]) {
        const metrics = { width, height: 900, deviceScaleFactor: 1, mobile: false };
        await page.send('Emulation.setDeviceMetricsOverride', metrics);
        expect(await page.evaluate('document.documentElement.scrollWidth'), `at ${width}`).toBeLessThanOrEqual(width);
      }
      if (folderOfShots !== undefined) writeFileSync(join(folderOfShots, 'narrow.png'), await page.screenshot());
      await page.send('Emulation.clearDeviceMetricsOverride');
      await page.send('Emulation.setEmulatedMedia', { media: 'print' });
      const printed = `[...document.querySelectorAll('#form, article')].map((part) => part.getClientRects().length > 0)`;
      expect(await page.evaluate(printed)).toEqual([true, false, true, true]);
      if (folderOfShots !== undefined) writeFileSync(join(folderOfShots, 'print.png'), await page.screenshot());
      await page.send('Emulation.setEmulatedMedia', { media: '' });
      const unlabelled = `[...document.querySelectorAll('input, textarea')].filter(
      (field) => field.labels.length === 0 && !field.hasAttribute('aria-label')).length`;
      expect(await page.evaluate(unlabelled)).toBe(0);
    });
  },
);
