import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseSiteConfig } from '../../schemas/events/sealed-event.js';
import { createUser } from '../../src/accounts/users/users.js';
import type { SeededDemo } from '../../src/demo/seed/seed-demo.js';
import { type RunningApp, startApp } from '../api/server/running-app.js';
import { chromiumPath } from '../support/chromium.js';
import { titleNeeding } from '../support/missing-tools.js';
import { PanelBrowser } from './panel-browser.js';

const isBuilt = existsSync(fileURLToPath(new URL('../../dashboard/dist/index.html', import.meta.url)));
const canRun = chromiumPath !== undefined && isBuilt;
const PASSWORD = 'nine gardeners whistle at noon';

describe.skipIf(!canRun)(titleNeeding('Chromium, or the built dashboard,', canRun, 'rules in the dashboard'), () => {
  let app: RunningApp;
  let demo: SeededDemo;
  let panel: PanelBrowser;
  beforeAll(async () => {
    app = await startApp('serve');
    demo = await app.seed();
    panel = await PanelBrowser.open(chromiumPath ?? '', app.url);
    await panel.visit(`/sites/${demo.site.id}/banner/rules`);
    await panel.signIn(demo.panel_user.email, demo.panel_user.password);
  });
  afterAll(async () => {
    await panel?.close();
    await app?.stop();
  });

  const IN_CALIFORNIA = 'Advertising, where the rule california applies';
  const IN_BRITAIN = 'Statistics, where the rule britain applies';
  const optionsOf = (label: string) =>
    panel.page.evaluate(
      `[...[...document.querySelectorAll('label')].find((one) => one.textContent.startsWith('${label}')).control.options].map((one) => one.text)`,
    );

  test('offers what the law of the places permits, with the reason against the rest', async () => {
    await panel.sees('There is no rule: consent first, everywhere.');
    expect(await panel.violations('rules-none')).toEqual([]);
    await panel.press('Add a rule');
    await panel.type('Name of the rule', 'california');
    await panel.tick('California');
    expect(await panel.violations('rules-places')).toEqual([]);
    await panel.press('Save');
    await panel.sees('California (US-CA)');
    await panel.press(IN_CALIFORNIA);
    expect(await optionsOf('Rule')).toEqual(['Consent first', 'Opt-out']);
    await panel.sees('“Exempt” is not permitted in California (US-CA): no law that permits it there is listed');
    await panel.sees('“Exempt” is not permitted for this category: by its key it is advertising');
    await panel.choose('Rule', 'Opt-out');
    await panel.sees('Runs until the visitor opts out');
    expect(await panel.violations('rules-cell')).toEqual([]);
    await panel.press('Save');
    await panel.page.until(() => panel.offers(`${IN_CALIFORNIA}: Opt-out`));
    expect(await panel.violations('rules-matrix')).toEqual([]);
  });

  test('takes the reason of an exempt category in each language, by the keyboard', async () => {
    await panel.press('Add a rule');
    await panel.type('Name of the rule', 'britain');
    await panel.tick('UK GDPR');
    await panel.press('Save');
    await panel.page.until(() => panel.offers(IN_BRITAIN));
    await panel.reach(IN_BRITAIN);
    await panel.page.press('Enter');
    await panel.sees('“Opt-out” is not permitted in United Kingdom: the law asks for consent or for an exception');
    expect(await optionsOf('Rule')).toEqual(['Consent first', 'Exempt']);
    await panel.choose('Rule', 'Exempt');
    expect(await optionsOf('Why it is exempt')).toEqual([
      'Statistics for this site alone',
      'How the site looks or works for the visitor',
    ]);
    await panel.sees('Only Demonstration Analytics Ltd. processes the data, for this site.');
    await panel.type('Reason that visitors read (English)', 'We count visits to improve the shop.');
    await panel.type('Reason that visitors read (Turkish)', 'Mağazayı iyileştirmek için ziyaretleri sayarız.');
    expect(await panel.violations('rules-exempt')).toEqual([]);
    await panel.press('Save');
    await panel.page.until(() => panel.offers(`${IN_BRITAIN}: Exempt: Statistics for this site alone`));
    await panel.press('Actions: britain');
    await panel.press('Move up');
    await panel.page.until(
      async () => (await panel.page.evaluate(`document.querySelector('main tbody th code').textContent`)) === 'britain',
    );
  });

  test('says what keeps a rule from being published, and leads there', async () => {
    await panel.press('Name and places: california');
    await panel.type('Other places', 'US-FL');
    await panel.press('Save');
    await panel.sees('“Opt-out” is not permitted in US-FL: it is not one of the listed states');
    expect(await panel.violations('rules-problem')).toEqual([]);
    await panel.press('Publish');
    await panel.sees('Rule 2, marketing: “Opt-out” is not permitted in US-FL');
    expect(await panel.isDisabled('Publish the draft')).toBe(true);
    await panel.press('Rule 2, marketing');
    await panel.page.until(
      async () => (await panel.page.evaluate('document.activeElement.id')) === 'rules.1.categories.marketing',
    );
    await panel.press('Name and places: california');
    await panel.type('Other places', '');
    await panel.press('Save');
    await panel.doesNotSee('is not permitted in US-FL');
  });

  test('sets the period of a refusal and choices of accounts, shows all of it as changes, and publishes them', async () => {
    await panel.press('Settings');
    await panel.choose('After a refusal', 'Ask again after a number of days');
    await panel.type('Days until a visitor who refused', '200');
    await panel.doesNotSee('Person space');
    const isAtAccounts = `document.activeElement.labels?.[0]?.textContent.startsWith('Choices of signed-in') === true`;
    await panel.page.until(async () => {
      await panel.page.press('Tab');
      return (await panel.page.evaluate(isAtAccounts)) === true;
    });
    await panel.page.press(' ');
    await panel.type('Person space', ' Shops of the town ');
    await panel.sees('How to connect your sign-in');
    expect(await panel.violations('rules-refusal')).toEqual([]);
    await panel.press('Save');
    await panel.sees('Saved');
    await panel.press('Publish');
    for (const text of ['Rule california', 'California (US-CA)', 'marketing', 'We count visits to improve the shop.'])
      await panel.sees(text);
    await panel.sees('Choices of signed-in people apply on all their devices');
    await panel.sees('Shops of the town');
    expect(await panel.violations('rules-difference')).toEqual([]);
    await panel.press('Publish the draft');
    await panel.press('Publish the draft');
    await panel.sees('is published and in force.');
    const { rows } = await app.superuser.query('select record from site_configs order by number desc limit 1');
    const { accounts, rules, refusal_days: days } = parseSiteConfig(String(rows[0]?.record));
    expect(days).toBe(200);
    expect(accounts).toEqual({ person_space: 'Shops of the town' });
    expect(rules).toEqual([
      {
        id: 'britain',
        frameworks: ['uk_gdpr'],
        categories: {
          analytics: {
            rule: 'exempt',
            exception: 'own_statistics',
            ground: {
              en: 'We count visits to improve the shop.',
              tr: 'Mağazayı iyileştirmek için ziyaretleri sayarız.',
            },
            processor: 'Demonstration Analytics Ltd.',
          },
        },
      },
      { id: 'california', places: ['US-CA'], categories: { marketing: { rule: 'opt_out' } } },
    ]);
  });

  test('makes the drafts of a site in Türkiye, and again only what is missing', async () => {
    const made = async () => {
      const { rows } = await app.superuser.query(
        "select d.slug, v.state from documents d join document_versions v on v.document_id = d.id where v.language = 'tr' and d.slug <> 'cookie-policy' and d.kind = any('{privacy_notice,consent_form}') order by d.slug, v.state",
      );
      return rows.map(({ slug, state }) => `${slug} ${state}`);
    };
    const before = await made();
    await panel.visit(`/sites/${demo.site.id}/documents`);
    await panel.press('Texts for Türkiye (KVKK)');
    await panel.sees('tick neither in advance');
    expect(await panel.violations('kvkk-preset')).toEqual([]);
    await panel.press('Texts for Türkiye (KVKK)');
    await panel.sees('aydinlatma-metni');
    await panel.doesNotSee('tick neither in advance');
    const after = [...before, 'acik-riza draft', 'aydinlatma-metni draft', 'ticari-ileti draft'].toSorted();
    expect((await made()).toSorted()).toEqual(after);
    expect(await panel.violations('kvkk-documents')).toEqual([]);
    await panel.press('Texts for Türkiye (KVKK)');
    await panel.press('Texts for Türkiye (KVKK)');
    await panel.doesNotSee('tick neither in advance');
    expect((await made()).toSorted()).toEqual(after);
    const { rows } = await app.superuser.query('select content from site_config_drafts');
    expect(rows[0]?.content).toMatchObject({
      languages: ['en', 'tr'],
      categories: expect.arrayContaining([expect.objectContaining({ key: 'preferences', required: false })]),
    });
  });

  test('speaks Turkish, and shows a reader the rules without a button', async () => {
    await panel.visit(`/sites/${demo.site.id}/banner/rules`);
    await panel.prefer('Language', 'Türkçe');
    await panel.press('Yerlere göre kurallar');
    await panel.sees('Muaf: Yalnızca bu site için istatistik');
    expect(await panel.violations('rules-turkish')).toEqual([]);
    await panel.prefer('Dil', 'English');
    const email = `viewer-${demo.tenant_id}@tenant.example`;
    const { adminPool } = app.service.installation;
    await createUser(adminPool, { tenantId: demo.tenant_id, email, password: PASSWORD, role: 'viewer' });
    const viewer = await PanelBrowser.open(chromiumPath ?? '', app.url);
    try {
      await viewer.visit(`/sites/${demo.site.id}/banner/rules`);
      await viewer.signIn(email, PASSWORD);
      await viewer.sees('Exempt: Statistics for this site alone');
      expect(await viewer.offers('Add a rule')).toBe(false);
      expect(await viewer.offers('Name and places')).toBe(false);
      expect(await viewer.violations('rules-viewer')).toEqual([]);
    } finally {
      await viewer.close();
    }
  });
});
