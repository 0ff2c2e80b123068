import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { ChromiumPage, chromiumPath } from '../support/chromium.js';
import { fixtureAuthority, LEDGER_KEY, VERIFIED_AT } from '../support/ledger-fixture.js';
import { measured } from '../support/measured-process.js';
import { titleNeeding } from '../support/missing-tools.js';
import { pem } from '../support/pem.js';
import { writeScalePackage } from '../support/scale-package.js';

/**
 * `BROWSER_RECORDS=50000 npx vitest run test/verifier/browser-scale.large.test.ts` measures the real thing,
 * beside Node, and demands the ratio.
 */
const asked = process.env.BROWSER_RECORDS;
const RECORDS = Number(asked ?? 3_000);
/** Times of Node that the browser may take. */
const MAX_RATIO = 3;
const BUNDLE = fileURLToPath(new URL('../../verifier-cli/dist/consent-verify.js', import.meta.url));
const PAGE = fileURLToPath(new URL('../../verifier-cli/dist/consent-verify.html', import.meta.url));
const canRun = chromiumPath !== undefined && existsSync(PAGE);

/** Keeps every text of the status, and when the verdict was there. */
const WATCH = `{
  const status = document.getElementById('status');
  window.seen = [];
  new MutationObserver(() => {
    window.seen.push(status.textContent);
    if (status.textContent.startsWith('Checked: ')) window.took ??= performance.now() - window.began;
  }).observe(status, { childList: true, characterData: true, subtree: true });
  window.began = performance.now();
}`;

describe.skipIf(!canRun)(titleNeeding('Chromium, or the built page,', canRun, 'many records in the browser'), () => {
  const authority = fixtureAuthority();
  const folder = mkdtempSync(join(tmpdir(), 'consent-verify-browser-scale-'));
  const file = (name: string) => join(folder, name);
  let page: ChromiumPage;

  beforeAll(async () => {
    writeFileSync(file('root.pem'), pem('CERTIFICATE', authority.root.der));
    writeFileSync(file('ledger.key'), LEDGER_KEY.verifierKey);
    await writeScalePackage(file('package.zip'), authority, RECORDS);
    page = await ChromiumPage.open(chromiumPath ?? '');
  });
  afterAll(async () => {
    await page?.close();
    rmSync(folder, { recursive: true });
  });

  test(`${RECORDS} records are verified, with progress in numbers`, async () => {
    await page.goto(pathToFileURL(PAGE).href);
    await page.evaluate(`document.getElementById('at').value = '${VERIFIED_AT.toISOString().slice(0, 19)}'`);
    await page.chooseFiles('#roots', [file('root.pem')]);
    await page.chooseFiles('#keys', [file('ledger.key')]);
    await page.evaluate(WATCH);
    await page.chooseFiles('#package', [file('package.zip')]);
    const took = await finished(page);
    const seen = z.array(z.string()).parse(await page.evaluate('window.seen'));
    expect(seen.at(-1)).toBe('Checked: valid.');
    const progress = seen.filter((text) => /^Checking … \d+ %: [\d.]+ [KM]iB of [\d.]+ [KM]iB$/.test(text));
    expect(progress.length).toBeGreaterThan(2);
    const caption = await page.evaluate(`document.querySelector('.records caption').textContent`);
    expect(caption).toBe(`The first 200 of ${RECORDS} records`);

    const trust = ['--tsa-ca', file('root.pem'), '--ledger-key', file('ledger.key'), '--at', VERIFIED_AT.toISOString()];
    const began = performance.now();
    measured(BUNDLE, 'list', file('package.zip'), ...trust, '--json');
    const node = performance.now() - began;
    console.log(
      `${RECORDS} records: browser ${(took / 1000).toFixed(1)} s, Node ${(node / 1000).toFixed(1)} s, ratio ${(took / node).toFixed(2)}`,
    );
    // A small package measures how long Node takes to start.
    if (asked !== undefined) expect(took / node).toBeLessThan(MAX_RATIO);
  });
});

/** Waits for the verdict. @returns milliseconds that it took in the page */
async function finished(page: ChromiumPage): Promise<number> {
  for (;;) {
    const took = await page.evaluate('window.took ?? null');
    if (typeof took === 'number') return took;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
