import { existsSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { ChromiumPage, chromiumPath } from '../support/chromium.js';
import { startDnsServer, type TestDnsServer } from '../support/dns-server.js';
import { titleNeeding } from '../support/missing-tools.js';
import { type RunningService, TestInstallation } from '../support/running-service.js';
import { PanelBrowser } from './panel-browser.js';

const isBuilt = existsSync(fileURLToPath(new URL('../../dashboard/dist/index.html', import.meta.url)));
const canRun = chromiumPath !== undefined && isBuilt;

describe.skipIf(!canRun)(titleNeeding('Chromium, or the built dashboard,', canRun, 'a new customer'), () => {
  let dns: TestDnsServer;
  let installation: TestInstallation;
  let service: RunningService;
  let panel: PanelBrowser;
  let visitor: ChromiumPage;
  let shop: Server;
  let page = '';

  beforeAll(async () => {
    dns = await startDnsServer();
    installation = await TestInstallation.make({ SIGN_UP: 'open', DNS_SERVERS: dns.address });
    service = await installation.start();
    panel = await PanelBrowser.open(chromiumPath ?? '', service.url);
    visitor = await ChromiumPage.open(chromiumPath ?? '');
    shop = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html').end(page);
    });
    await new Promise<void>((resolve) => shop.listen(0, '127.0.0.1', resolve));
  });
  afterAll(async () => {
    await Promise.all([panel?.close(), visitor?.close()]);
    shop?.close();
    await service?.stop();
    await installation?.remove();
    await dns?.close();
  });

  test('gets from the sign-up to the first recorded consent with nothing but the dashboard', async () => {
    await panel.visit('/sign-up');
    await panel.type('Name of your organisation', 'Florist Ltd');
    await panel.type('E-mail address', 'owner@florist.example');
    await panel.press('Continue');
    await panel.isAt('Choose your password');
    await panel.type('New password', 'a garden of patient tulips');
    await panel.press('Create the account');

    await panel.isAt('Your site and its domain');
    await panel.type('Name', 'Florist');
    await panel.type('Domain', 'florist.example');
    // The pages of this test are not on the site's domain.
    const { port } = z.object({ port: z.number() }).parse(shop.address());
    const origin = `http://127.0.0.1:${port}`;
    await panel.press('The site has pages on other domains');
    await panel.type('Allowed origins', origin);
    await panel.press('Continue');
    await panel.sees('_consent-ledger.florist.example');
    const [value = ''] = /consent-ledger-verification=[\w-]+/.exec(await panel.text()) ?? [];
    dns.records.set('_consent-ledger.florist.example', [[value]]);
    await panel.press('Verify the domain');
    await panel.sees('The domain was proved on');
    await panel.press('Continue');

    await panel.isAt('What your policy states');
    await panel.type('Legal name of the controller', 'Florist Ltd');
    await panel.type('Address of the controller', '1 Garden Street, Dublin');
    await panel.type('Contact for questions', 'privacy@florist.example');
    await panel.tick('Necessary');
    await panel.tick('Statistics');
    await panel.type('Data, cookies, purposes', 'Statistics: pages that you visit, by your consent.');
    await panel.type('Recipients', 'Nobody but the florist.');
    await panel.type('Periods', 'Statistics: 30 days.');
    await panel.type('Rights that people have', 'Write to us. You can complain to the Data Protection Commission.');
    await panel.press('Continue');

    await panel.isAt('Languages and look of the banner');
    await panel.tick('Turkish');
    await panel.sees('Chosen: English and Turkish');
    await panel.press('Continue');

    await panel.isAt('Check and publish');
    await panel.sees('No native speaker has confirmed the default texts and labels in: Turkish.');
    await panel.press('Publish and confirm the texts');
    await panel.isAt('Put the banner on your pages');
    await panel.sees('data-api-key="svc_live_');
    await panel.press('Copy: Line for your pages');
    page = `<!doctype html><title>Florist</title>${await panel.codeShown()}<p>Tulips</p>`;

    await panel.sees('Waiting for the first consent.');
    await visitor.goto(`${origin}/`);
    const accept = `document.querySelector('consent-banner')?.shadowRoot?.querySelector('[part=accept]')`;
    await visitor.until(async () => (await visitor.evaluate(`${accept} != null`)) === true);
    await visitor.evaluate(`${accept}.click()`);
    await panel.sees('The first consent has arrived.');
    // docs/dashboard.md states the numbers; the visitor's own step is not in them.
    const fields = panel.steps.filter((step) => step.startsWith('fill in '));
    expect([panel.steps.length - fields.length, fields.length]).toEqual([13, 13]);
  });
});
