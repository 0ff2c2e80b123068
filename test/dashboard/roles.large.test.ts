import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createUser } from '../../src/accounts/users/users.js';
import type { SeededDemo } from '../../src/demo/seed/seed-demo.js';
import { withTransaction } from '../../src/platform/database/pool.js';
import { type RunningApp, startApp } from '../api/server/running-app.js';
import { chromiumPath } from '../support/chromium.js';
import { startDnsServer, type TestDnsServer } from '../support/dns-server.js';
import { titleNeeding } from '../support/missing-tools.js';
import { postSigned } from '../support/signed-requests.js';
import { isTried } from '../support/sweeps.js';
import { PanelBrowser } from './panel-browser.js';

/*
 * A day of an admin, a dpo and a viewer, on one service and in one browser. Each sees every page
 * that the role has, and is refused the others with words. The day of an owner is in owner.test.ts.
 */

const isBuilt = existsSync(fileURLToPath(new URL('../../dashboard/dist/index.html', import.meta.url)));
const canRun = chromiumPath !== undefined && isBuilt;

const PASSWORD = 'seven bakers knead by moonlight';
const REFUSED = 'Your role does not permit this.';
const SITE_PAGES = ['Consents', 'Documents', 'Banner', 'Statistics'];
const COPYING = [
  'Copy: On your pages',
  'Copy: A script that waits for a permission has the type text/plain and names its category:',
  'Copy: Content security policy by the origin of the service',
  'Copy: Content security policy by a nonce',
  'Copy: In your backend (Node)',
];
const COMMON_PAGES = ['Overview', 'Sites', ...SITE_PAGES, 'General', 'API & Integrations', 'Time stamps'];

describe.skipIf(!canRun || !isTried('days of the other roles', 'all'))(
  titleNeeding('Chromium, or the built dashboard,', canRun, 'a day in a role'),
  () => {
    let dns: TestDnsServer;
    let app: RunningApp;
    let demo: SeededDemo;
    let panel: PanelBrowser;
    let downloads: string;

    beforeAll(async () => {
      downloads = await mkdtemp(join(tmpdir(), 'consent-ledger-dpo-'));
      dns = await startDnsServer();
      app = await startApp('serve', { DNS_SERVERS: dns.address, WEBHOOK_NETWORKS: '127.0.0.0/8' });
      demo = await app.seed();
      const { adminPool } = app.service.installation;
      for (const role of ['dpo', 'viewer'] as const)
        await createUser(adminPool, {
          tenantId: demo.tenant_id,
          email: `${role}@shop.example`,
          password: PASSWORD,
          role,
        });
      const policy = demo.documents.find(({ slug }) => slug === 'cookie-policy')?.versions ?? [];
      const version = policy.find(({ state, language }) => state === 'active' && language === 'en')?.id;
      for (const visitor of ['visitor-1', 'visitor-2'])
        await postSigned(app.url, demo.keys.write, '/tool/v1/consents', {
          consent_type: 'cookie',
          decision: 'partial',
          categories: { necessary: true, analytics: true, marketing: false },
          document_version_id: version,
          visitor_id: visitor,
          language: 'en',
        });
      panel = await PanelBrowser.open(chromiumPath ?? '', app.url);
      await panel.page.send('Browser.setDownloadBehavior', { behavior: 'allow', downloadPath: downloads });
    });
    afterAll(async () => {
      await panel?.close();
      await app?.stop();
      await dns?.close();
      if (downloads !== undefined) await rm(downloads, { recursive: true, force: true });
    });

    const sitePath = (page: string) => `/sites/${demo.site.id}/${page}`;
    const signIn = async (email: string, password = PASSWORD): Promise<void> => {
      await panel.visit('/');
      await panel.isAt('Sign in');
      await panel.signIn(email, password);
      await panel.isAt('Overview');
      await panel.sees('Ready to record');
    };
    const signOut = async (): Promise<void> => {
      await panel.signOut();
      await panel.isAt('Sign in');
    };
    /** Opens pages that the navigation does not have, as an old bookmark would. */
    const isRefused = async (...paths: readonly string[]): Promise<void> => {
      for (const path of paths) {
        await panel.visit(path);
        await panel.sees(REFUSED);
      }
    };
    /** A page whose list has come. */
    const opens = async (link: string, title: string, shown: string): Promise<readonly string[]> => {
      await panel.press(link);
      await panel.isAt(title);
      await panel.sees(shown);
      return panel.controls();
    };
    const isDownloaded = async (pattern: RegExp): Promise<string> => {
      await expect.poll(() => readdirSync(downloads), { interval: 50 }).toContainEqual(expect.stringMatching(pattern));
      return join(downloads, readdirSync(downloads).find((name) => pattern.test(name)) ?? '');
    };

    describe('of an admin', () => {
      test('accepts the invitation of the owner', async () => {
        await signIn(demo.panel_user.email, demo.panel_user.password);
        await panel.press('Team');
        await panel.press('Invite a person');
        await panel.type('E-mail address', 'admin@shop.example');
        await panel.choose('Role', 'Administrator');
        await panel.press('Invite a person');
        await panel.sees('Give this link to the person.');
        const [, link = ''] = /(\/accept-invitation#token=\S+)/.exec(await panel.text()) ?? [];
        await panel.press('Done');
        await signOut();
        await panel.visit(link);
        await panel.isAt('Accept the invitation');
        expect(await panel.page.evaluate('location.hash')).toBe('');
        await panel.type('New password', PASSWORD);
        await panel.press('Accept and sign in');
        await panel.isAt('Overview');
        await panel.sees('Ready to record');
        expect(await panel.navigation()).toEqual([
          ...COMMON_PAGES.slice(0, -1),
          'Webhooks',
          'Time stamps',
          'Team',
          'Audit log',
          'Plan and usage',
        ]);
      });

      test('adds a site, proves its domain, and cannot say how long personal values are kept', async () => {
        await panel.press('Sites');
        await panel.isAt('Sites');
        await panel.press('Add a site');
        await panel.type('Name', 'Bakery');
        await panel.type('Domain', 'bakery.example');
        await panel.press('Continue');
        await panel.press('Change the name, domain or origins of the site');
        await panel.isAt('Bakery');
        await panel.sees('_consent-ledger.bakery.example');
        const [value = ''] = /consent-ledger-verification=[\w-]+/.exec(await panel.text()) ?? [];
        await panel.tick('File');
        await panel.sees('https://bakery.example/.well-known/consent-ledger.txt');
        await panel.press('Verify the domain');
        await panel.sees('was looked for, but the host has no public address.');
        expect(await panel.violations('domain-by-file')).toEqual([]);
        await panel.tick('Tag');
        await panel.sees(`<meta name="consent-ledger-verification" content="${value.split('=')[1]}">`);
        await panel.tick('DNS record');
        await panel.press('Verify the domain');
        // Its answer: until then, a second press would do nothing.
        await panel.sees('The DNS has no TXT record');
        dns.records.set('_consent-ledger.bakery.example', [[value]]);
        await panel.press('Verify the domain');
        await panel.sees('The domain was proved on');
        await panel.sees('The proof is a DNS record, which covers subdomains too.');
        await panel.sees('Personal values are never erased by age.');
        expect(await panel.controls()).not.toContain('Edit');
      });

      test('is warned of a file that is gone, and proves the domain in another way', async () => {
        // What the weekly look writes.
        await withTransaction(app.service.installation.adminPool, (db) =>
          db.query(`update sites set proof = 'file', proof_looked_at = now(), proof_failing_since = now() - interval '9 days'
                     where domain = 'bakery.example'`),
        );
        await panel.visit('/');
        await panel.sees('The file or tag that proves the domain is not found.');
        await panel.press('Sites');
        // The overview has a link of this name, too.
        await panel.isAt('Sites');
        await panel.press('Bakery');
        await panel.sees('The proof is a file, which covers only this host.');
        await panel.sees('The proof has not been found since');
        expect(await panel.violations('domain-file-gone')).toEqual([]);
        await panel.tick('DNS record');
        await panel.press('Verify the domain');
        await panel.sees('The proof is a DNS record, which covers subdomains too.');
        await panel.doesNotSee('The proof has not been found since');
      });

      test('publishes a document and a banner, and makes a key and a webhook', async () => {
        await panel.press('Documents');
        await panel.press('Add a document');
        await panel.type('Short name', 'cookie-policy');
        await panel.press('Add a document');
        await panel.press('cookie-policy');
        await panel.press('Write a draft');
        await panel.type('Title', 'Cookies of the bakery');
        await panel.type('Text', 'We count visits if you agree.');
        await panel.press('Save the draft');
        await panel.press('Publish: Cookies of the bakery');
        await panel.press('Publish');
        await panel.press('Put in force: Cookies of the bakery');
        await panel.press('Put in force');
        await panel.sees('In force');
        await panel.press('Banner');
        await panel.type('Legal name of the controller', 'Bakery Ltd');
        await panel.type('Contact for questions', 'privacy@bakery.example');
        await panel.tick('English');
        await panel.press('Save', 'Controller and languages');
        await panel.press('Texts');
        await panel.type('Heading', 'Cookies of the bakery');
        await panel.type('Text', 'May we count visits?');
        await panel.type('How a visitor withdraws', 'Open the settings at the foot of each page.');
        await panel.press('Save', 'Texts of the banner');
        await panel.sees('Saved');
        await panel.press('Categories and cookies');
        await panel.press('Add a category');
        await panel.type('Key', 'analytics');
        await panel.type('Name (English)', 'Statistics');
        await panel.type('Purpose (English)', 'Counting visits');
        await panel.press('Save');
        await panel.sees('analytics');
        await panel.press('Publish');
        await panel.press('Publish the draft');
        await panel.press('Publish the draft');
        await panel.sees('Version 1 is in force.');
        await panel.press('API & Integrations');
        await panel.press('Create a key');
        await panel.type('Name', 'pages of the bakery');
        await panel.press('Create a key');
        await panel.sees('You can see it again in the list.');
        await panel.press('Close');
        await panel.sees('data-api-key="svc_live_');
        await panel.press('Webhooks');
        await panel.press('Add a webhook');
        await panel.type('Address', 'https://127.0.0.1/consents');
        await panel.press('Add a webhook');
        await panel.sees('This is shown once.');
        await panel.press('I have copied the secret');
        await panel.sees('https://127.0.0.1/consents');
      });

      test('reads records and their proof, without the person and without evidence to take away', async () => {
        await panel.chooseSite('Demonstration shop');
        expect(await opens('Consents', 'Consents', 'Test stamp')).not.toContain('Search');
        await panel.openFirstRow();
        await panel.sees('The record is unchanged since it was recorded.');
        await panel.sees('Words of the banner');
        expect(await panel.controls()).toEqual(['Download the receipt']);
        expect(await panel.text()).not.toContain('visitor-2');
        expect(await panel.violations('admin-consent')).toEqual([]);
        await isRefused(sitePath('evidence'), sitePath('erasures'));
        expect(await panel.violations('admin-refused')).toEqual([]);
      });

      test('invites viewers and admins, and manages neither owners nor the data-protection officer', async () => {
        await panel.visit('/');
        await panel.isAt('Overview');
        const controls = await opens('Team', 'Team', 'viewer@shop.example');
        expect(controls).toContain('Actions: viewer@shop.example');
        expect(controls).not.toContain(`Actions: ${demo.panel_user.email}`);
        expect(controls).not.toContain('Actions: dpo@shop.example');
        await panel.press('Invite a person');
        const roles = `[...document.querySelectorAll('[role=dialog] option')].map((one) => one.text.split(':')[0])`;
        expect(await panel.page.evaluate(roles)).toEqual(['Administrator', 'Viewer']);
        await panel.type('E-mail address', 'second-viewer@shop.example');
        await panel.press('Invite a person');
        await panel.sees('Give this link to the person.');
        await panel.press('Done');
        expect(await panel.linesOnPhone()).toBeLessThanOrEqual(3);
        await panel.press('Actions: second-viewer@shop.example');
        await panel.press('Revoke');
        await panel.press('Revoke');
        await panel.sees('There is no open invitation.');
        expect(await panel.violations('team')).toEqual([]);
        await opens('Audit log', 'Audit log', 'Invitation revoked');
        await opens('Plan and usage', 'Plan and usage', 'Used in this month');
        await opens('Time stamps', 'Time stamps', 'Checkpoint of');
        await signOut();
      });
    });

    describe('of a data-protection officer', () => {
      test('sees every page, and changes nothing that records consents', async () => {
        await signIn('dpo@shop.example');
        expect(await panel.navigation()).toEqual([
          'Overview',
          'Sites',
          ...SITE_PAGES,
          'Evidence',
          'Erasures',
          'General',
          'API & Integrations',
          'Webhooks',
          'Time stamps',
          'Team',
          'Audit log',
          'Plan and usage',
        ]);
        await panel.chooseSite('Demonstration shop');
        expect(await opens('Sites', 'Sites', 'Demonstration shop')).toEqual([]);
        await panel.press('Demonstration shop');
        await panel.sees('Personal values are never erased by age.');
        expect(await panel.controls()).toEqual(['Edit']);
        expect(await opens('API & Integrations', 'API & Integrations', 'Record consents')).toEqual(COPYING);
        expect(await opens('Webhooks', 'Webhooks', 'This site has no webhook yet')).toEqual([]);
        expect(await opens('Documents', 'Documents', 'explicit-consent')).toEqual([]);
        expect(await opens('Banner', 'Banner', 'Version 1 is in force.')).toEqual([
          'Language of the texts',
          'Window',
          'Appearance',
          'Shown in',
        ]);
        expect(await opens('Team', 'Team', 'admin@shop.example')).toEqual([]);
        await opens('Audit log', 'Audit log', 'Invitation revoked');
      });

      test('sets how long personal values are kept', async () => {
        await panel.press('General');
        await panel.press('Edit');
        expect(await panel.violations('dpo-retention')).toEqual([]);
        await panel.press('Cancel');
      });

      test('answers an access request: finds the person, reads the values, exports and checks', async () => {
        panel.steps.length = 0;
        await panel.press('Consents');
        await panel.type('Value', 'visitor-1');
        await panel.type('Why you need personal values', 'access request of 3 March');
        await panel.press('Search');
        await panel.sees('Records of this person');
        await panel.openFirstRow();
        await panel.sees('The record is unchanged since it was recorded.');
        await panel.press('Show personal values');
        await panel.press('Show personal values');
        await panel.sees('visitor-1');
        await panel.press('Export for this person');
        await panel.press('Export for this person');
        await panel.isAt('Evidence');
        await panel.sees('Ready');
        await panel.press('Download');
        const zip = await isDownloaded(/^evidence-[0-9a-f-]{36}\.zip$/);
        expect((await readFile(zip)).subarray(0, 2).toString()).toBe('PK');
        await panel.press('Actions');
        await panel.press('Check now in this browser');
        await panel.sees('The verifier page has opened and checks the package.');
        const checked = await panel.textOfPage('/verify', 'Checked');
        expect(checked).toContain('1 record');
        expect(checked).toContain('visitor-1');
        expect(checked).not.toContain('visitor-2');
        // docs/dashboard.md states the number.
        expect(panel.steps).toHaveLength(12);
      });

      test('answers an erasure request: erases the person, and has a receipt for the answer', async () => {
        panel.steps.length = 0;
        await panel.press('Consents');
        await panel.type('Value', 'visitor-1');
        // The reason that was given last is proposed again.
        await panel.press('Search');
        await panel.press('Erase this person');
        await panel.sees('destroyed, permanently');
        await panel.press('Erase this person');
        await panel.isAt('Receipt of the erasure');
        await panel.sees('Finished');
        await panel.sees('The keys of the erased values are destroyed.');
        await panel.sees('Time-stamped');
        // docs/dashboard.md states the number.
        expect(panel.steps).toHaveLength(5);
        expect(await panel.violations('dpo-erasure')).toEqual([]);
        // Nothing can be found or taken away any more; the proof stays.
        await panel.press('Consents');
        await panel.type('Value', 'visitor-1');
        await panel.press('Search');
        await panel.sees('No record matches.');
        await panel.press('Back to all records');
        await panel.sees('Personal values erased');
        await panel.press('Evidence');
        await panel.sees('because a person was erased');
        expect(await panel.offers('Download')).toBe(false);
        // The dashboard searched when the officer did, and at no other time.
        const { rows } = await app.superuser.query("select from audit_log where action = 'consent.search'");
        expect(rows).toHaveLength(3);
        await signOut();
      });
    });

    describe('of a viewer', () => {
      test('sees pages without personal data, and changes nothing', async () => {
        await signIn('viewer@shop.example');
        expect(await panel.navigation()).toEqual([...COMMON_PAGES, 'Plan and usage']);
        expect(await panel.controls()).toEqual([]);
        await panel.chooseSite('Demonstration shop');
        expect(await opens('Sites', 'Sites', 'Demonstration shop')).toEqual([]);
        await panel.press('Demonstration shop');
        await panel.sees('Personal values are never erased by age.');
        expect(await panel.controls()).toEqual([]);
        expect(await panel.violations('viewer-site')).toEqual([]);
        expect(await opens('API & Integrations', 'API & Integrations', 'Record consents')).toEqual(COPYING);
        expect(await opens('Banner', 'Banner', 'Version 1 is in force.')).toEqual([
          'Language of the texts',
          'Window',
          'Appearance',
          'Shown in',
        ]);
        expect(await opens('Documents', 'Documents', 'explicit-consent')).toEqual([]);
        await panel.press('cookie-policy');
        await panel.sees('Versions');
        await panel.press('Show: Cookie policy');
        await panel.sees('Preview: English, version 1 (retired)');
        expect([...new Set((await panel.controls()).map((name) => name.split(':')[0]))]).toEqual(['Show']);
        expect(await panel.violations('viewer-document')).toEqual([]);
        await opens('Time stamps', 'Time stamps', 'Checkpoint of');
        await opens('Plan and usage', 'Plan and usage', 'Used in this month');
      });

      test('reads records without the person, and is refused every other page with words', async () => {
        expect(await opens('Consents', 'Consents', 'Test stamp')).not.toContain('Search');
        await panel.openFirstRow();
        await panel.sees('The service checked the record now:');
        await panel.sees('Certificate (one page, for print)');
        expect(await panel.controls()).toEqual(['Download the receipt']);
        expect(await panel.text()).not.toContain('visitor-2');
        await isRefused(sitePath('evidence'), sitePath('erasures'), sitePath('webhooks'), '/team', '/audit-log');
      });

      test('changes the own password, as every user does', async () => {
        await panel.visit('/profile');
        await panel.isAt('Your profile');
        await panel.type('Current password', PASSWORD);
        await panel.type('New password', `${PASSWORD} again`);
        await panel.press('Change the password');
        await panel.sees('Your password is changed.');
        await signOut();
      });
    });

    test('the browser refused nothing by the policy', () => {
      expect(panel.logged().filter((line) => !line.includes('Framing '))).toEqual([]);
    });
  },
);
