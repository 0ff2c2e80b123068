import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { adoptedCookie, declaredIn, foundNames, isAdoptable } from '../../dashboard/src/pages/banner/found-names.js';
import { createUser } from '../../src/accounts/users/users.js';
import type { SeededDemo } from '../../src/demo/seed/seed-demo.js';
import { type RunningApp, startApp } from '../api/server/running-app.js';
import { chromiumPath } from '../support/chromium.js';
import { titleNeeding } from '../support/missing-tools.js';
import { scanResult } from '../tenancy/scans/scan-result.js';
import { startSite, type TestSite } from '../tenancy/scans/scanned-shop.js';
import { PanelBrowser } from './panel-browser.js';

const isBuilt = existsSync(fileURLToPath(new URL('../../dashboard/dist/index.html', import.meta.url)));
const canRun = chromiumPath !== undefined && isBuilt;
const PASSWORD = 'nine gardeners whistle at noon';

test('adopts what a scan found with its host and lifetime', () => {
  const scan = scanResult('6f1d2c3b-4a59-4876-9b0a-1c2d3e4f5a6b');
  const names = foundNames({
    ...scan,
    findings: [
      ...scan.findings,
      { problem: 'after_refusal', kind: 'cookie', name: '_visits', domain: 'shop.example', category: 'analytics' },
    ],
  });
  expect(names.map(({ name, problems }) => [name, problems])).toEqual([
    ['tracker', ['undeclared']],
    ['cart', ['undeclared']],
    ['_visits', ['before_choice', 'after_refusal']],
  ]);
  expect(names.slice(0, 2).map((found) => adoptedCookie(scan, found, 'bakery.example'))).toEqual([
    { name: 'tracker', provider: 'shop.example', party: 'first', duration_seconds: 600 },
    { name: 'cart', provider: 'bakery.example', party: 'first', duration_seconds: null },
  ]);
  const cookie = { ...adoptedCookie(scan, { kind: 'cookie', name: '_ga_*', domain: null, problems: [] }, 'a.example') };
  const draft = { cookies: [{ ...cookie, id: '1', category: 'analytics', purpose: {} }] };
  expect(declaredIn(draft, '_ga_X')?.name).toBe('_ga_*');
  expect(declaredIn(draft, 'other')).toBeNull();
  const all = { kind: 'cookie', name: '*', domain: 'shop.example', problems: [] } as const;
  expect([...names, all].map(isAdoptable)).toEqual([true, true, true, false]);
});

describe.skipIf(!canRun)(titleNeeding('Chromium, or the built dashboard,', canRun, 'scans in the dashboard'), () => {
  let app: RunningApp;
  let demo: SeededDemo;
  let panel: PanelBrowser;
  let shop: TestSite;
  beforeAll(async () => {
    shop = await startSite('127.0.0.1', (_, response) =>
      response
        .writeHead(200, { 'content-type': 'text/html', 'set-cookie': ['tracker=1; Max-Age=31536000', '_visits=2'] })
        .end('<!doctype html><html lang="en"><title>Shop</title><img src="http://127.0.0.1/pixel.gif" alt="">'),
    );
    app = await startApp('serve', { SCAN_NETWORKS: '127.0.0.1/32' });
    demo = await app.seed();
    await app.change("update sites set domain = 'localhost', config_revision = config_revision + 1 where id = $1", [
      demo.site.id,
    ]);
    panel = await PanelBrowser.open(chromiumPath ?? '', app.url);
  });
  afterAll(async () => {
    await panel?.close();
    await app?.stop();
    await shop?.close();
  });

  test('scans a page, adopts a cookie into a category, and records the result as evidence', async () => {
    await panel.visit(`/sites/${demo.site.id}/banner/scan`);
    await panel.signIn(demo.panel_user.email, demo.panel_user.password);
    await panel.isAt('Banner');
    await panel.sees('Scan a page');
    await panel.type('Address of the page', 'https://elsewhere.example/');
    await panel.press('Scan the page');
    await panel.sees('is not on a verified domain');
    expect(await panel.violations('scan-refused')).toEqual([]);
    await panel.type('Address of the page', `http://localhost:${shop.port}/`);
    await panel.press('Scan the page');
    await panel.sees('Names that need attention: 2.');
    await panel.sees('Set before a choice, Set after a refusal');
    expect(await panel.violations('scan-result')).toEqual([]);
    await panel.press('Adopt: tracker');
    for (const language of ['English', 'Turkish']) await panel.type(`Purpose (${language})`, `Counting ${language}`);
    await panel.choose('Category', 'Statistics');
    expect(await panel.violations('scan-adopt')).toEqual([]);
    await panel.press('Save');
    await panel.page.until(async () => !(await panel.offers('Adopt: tracker')));
    await panel.doesNotSee('Choose a category');
    await panel.tick('Record the result as evidence');
    await panel.tick('Open the page with the signal of a browser that asks to opt out (Global Privacy Control)');
    await panel.press('Scan the page');
    await panel.sees('The result is recorded as evidence.');
    await panel.sees('The page was opened with Global Privacy Control.');
    await panel.sees('Recorded scans');
    await panel.sees('Stamped');
    expect(await panel.violations('scan-recorded')).toEqual([]);
    const { rows } = await app.superuser.query(
      "select action from audit_log where action in ('site.scan', 'cookie.create') order by seq",
    );
    expect(rows.map(({ action }) => action)).toEqual(['site.scan', 'cookie.create', 'site.scan']);
  });

  test('speaks Turkish', async () => {
    await panel.prefer('Language', 'Türkçe');
    await panel.sees('Kayıtlı taramalar');
    expect(await panel.violations('scan-turkish')).toEqual([]);
    await panel.prefer('Dil', 'English');
  });

  test('shows a viewer the recorded scans, and offers no scan', async () => {
    const email = `viewer-${demo.tenant_id}@tenant.example`;
    const { adminPool } = app.service.installation;
    await createUser(adminPool, { tenantId: demo.tenant_id, email, password: PASSWORD, role: 'viewer' });
    const viewer = await PanelBrowser.open(chromiumPath ?? '', app.url);
    try {
      await viewer.visit(`/sites/${demo.site.id}/banner/scan`);
      await viewer.signIn(email, PASSWORD);
      await viewer.sees('Recorded scans');
      expect(await viewer.offers('Scan the page')).toBe(false);
      expect(await viewer.violations('scan-viewer')).toEqual([]);
    } finally {
      await viewer.close();
    }
  });
});
