import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { ConsentLedger } from '../../../sdk/node/src/consent-ledger.js';
import type { ExportedConsent } from '../../../sdk/shared/types.js';
import { type RunningApp, startApp } from '../../api/server/running-app.js';
import { violationsOf } from '../../support/axe.js';
import { chromiumPath } from '../../support/chromium.js';
import { titleNeeding } from '../../support/missing-tools.js';
import { turnAccountsOn } from '../../support/turn-accounts-on.js';
import { addArabic } from './arabic-site.js';
import { NONCE, type PageOptions, Shop } from './shop.js';
import { Visitor } from './visitor.js';

const isBuilt = existsSync(fileURLToPath(new URL('../../../sdk/browser/dist/account.js', import.meta.url)));
const canRun = chromiumPath !== undefined && isBuilt;
const TITLE = 'one person on two devices, in Chromium';
const SPACE = 'Example Shops';
const SCOPE =
  'You are signed in. Your choice applies to your account, on every device on which you sign in. ' +
  `It also applies on the sites of this group: ${SPACE}`;
const TOLD = 'The choice of your account applies on this device. You can change it at any time.';
const PHONE = { width: 390, height: 780, deviceScaleFactor: 1, mobile: false };
const Texts = z.array(z.string());
const Stored = z.tuple([z.string(), z.record(z.string(), z.string())]);

describe.skipIf(!canRun)(titleNeeding('Chromium, or the built SDK,', canRun, TITLE), () => {
  let app: RunningApp;
  let shop: Shop;
  let laptop: Visitor;
  let phone: Visitor;
  let ledger: ConsentLedger;
  /** Whoever is signed in at the shop; a reference of its own for each test. */
  let person: string;
  beforeAll(async () => {
    shop = await Shop.open();
    app = await startApp('serve');
    const demo = await app.seed({ allowedOrigins: [shop.origin] });
    await addArabic(app, demo);
    await turnAccountsOn(app, demo.site.id, SPACE);
    shop.use(app.url, demo.keys.write);
    ledger = new ConsentLedger({ baseUrl: app.url, apiKey: demo.keys.write, user: demo.api_user });
    shop.personToken = async () => (await ledger.personToken(person)).person_token;
    laptop = await Visitor.start(chromiumPath ?? '', shop);
    phone = await Visitor.start(chromiumPath ?? '', shop);
    await phone.page.send('Emulation.setDeviceMetricsOverride', PHONE);
  });
  afterAll(async () => {
    await laptop?.page.close();
    await phone?.page.close();
    await app?.stop();
    await shop?.close();
  });
  beforeEach(async () => {
    person = `customer-${randomUUID()}`;
    await laptop.forget();
    await phone.forget();
  });

  /** A page of the shop for somebody who is signed in. */
  const signedIn = (language = 'en'): PageOptions => ({
    language,
    body: `<p><button id="out">Sign out</button></p><script nonce="${NONCE}">{
      const { consent } = consentLedger;
      const token = () => fetch('/consent-token', { method: 'POST' }).then((response) => response.text());
      consent.signIn({ id: '${person}', token });
      document.getElementById('out').onclick = () => consent.signOut();
    }</script>`,
  });
  const textOf = (device: Visitor, place: string): Promise<unknown> =>
    device.inBanner(`banner.querySelector('${place} [part=account]')?.textContent ?? null`);
  const question = (device: Visitor) => textOf(device, '.first');
  /** What is said at the edge of the page. */
  const told = (device: Visitor) => textOf(device, '.corner');
  const choose = (device: Visitor, categories: object): Promise<unknown> =>
    device.page.evaluate(`consentLedger.consent.choose(${JSON.stringify(categories)}).then(() => true)`);
  /** The status, and the optional categories that are permitted. */
  const allowed = async (device: Visitor): Promise<unknown> =>
    device.page.evaluate(
      `[consentLedger.consent.state.status, ...['analytics', 'marketing'].filter((key) => consentLedger.consent.allows(key))]`,
    );
  /** The newest record of the person, once there is this number. */
  const recorded = async (count: number): Promise<ExportedConsent | undefined> => {
    const found: ExportedConsent[] = [];
    await expect
      .poll(async () => {
        found.length = 0;
        for await (const record of ledger.exportRecords({ visitor_id: person })) found.push(record);
        return found.length;
      })
      .toBe(count);
    return found.at(-1);
  };
  /** What a device has in its cookies and its storage. */
  const stored = async (device: Visitor) =>
    Stored.parse(await device.page.evaluate('[document.cookie, { ...localStorage, ...sessionStorage }]'));
  /** Whether everybody can use a screen: rules that it breaks, and texts that the window cuts off. */
  const faults = async (device: Visitor, name: string): Promise<readonly unknown[]> => [
    ...(await violationsOf(device.page, name)),
    ...Texts.parse(
      await device.inBanner(`[...banner.querySelectorAll('h2, p, button')].filter((one) => {
      const { left, right, width } = one.getBoundingClientRect();
      return width > 0 && (left < 0 || right > innerWidth);
    }).map((one) => one.outerHTML)`),
    ),
  ];
  /** Controls of the question that Tab reaches, then those before the first that it reaches. */
  const reached = async (device: Visitor): Promise<unknown> => {
    const parts: unknown[] = [];
    for (const isBack of [false, false, false, true, true, true, true]) {
      await device.page.press('Tab', isBack);
      parts.push(await device.inBanner(`banner.activeElement?.getAttribute('part')`));
    }
    return parts;
  };

  test('what is accepted on one device runs on the other, and what is refused there ends on the first', async () => {
    await laptop.visit(signedIn());
    expect(await question(laptop)).toBe(SCOPE);
    expect(await faults(laptop, 'the question')).toEqual([]);
    expect(await reached(laptop)).toEqual(['accept', 'reject', 'settings', 'reject', 'accept', 'language', 'policy']);
    await laptop.page.press('Tab');
    await laptop.page.press('Tab');
    await laptop.page.press('Enter');
    expect(await recorded(1)).toMatchObject({
      scope: 'account',
      visitor_id: person,
      approval_token_id: expect.stringMatching(/^ptk_/),
      decision: 'accepted',
      presentation: { account: { text: SCOPE, language: 'en' }, layer: 'first', control: 'accept' },
    });
    expect(await told(laptop)).toBeNull();

    await phone.visit(signedIn());
    expect([await phone.sees('section'), await told(phone)]).toEqual([false, TOLD]);
    expect(await allowed(phone)).toEqual(['chosen', 'analytics', 'marketing']);
    await expect.poll(() => phone.ran()).toEqual(['/analytics.js', 'inline marketing']);
    expect(await faults(phone, 'the line at the edge')).toEqual([]);
    await phone.visit(signedIn());
    expect(await told(phone)).toBeNull();
    // After the link and the button of the page.
    for (const key of ['Tab', 'Tab', 'Tab', 'Enter'] as const) await phone.page.press(key);
    expect(await textOf(phone, 'dialog[open]')).toBe(SCOPE);
    expect(await faults(phone, 'the settings')).toEqual([]);
    await phone.click('reject');
    expect(await recorded(2)).toMatchObject({ scope: 'account', decision: 'withdrawn' });

    await laptop.visit(signedIn());
    expect([await laptop.sees('section'), await told(laptop)]).toEqual([false, TOLD]);
    expect([await allowed(laptop), await laptop.ran()]).toEqual([['chosen'], []]);
  });

  const DIFFERENCES = {
    en: [
      'The choices on this device and in your account differ. Until you choose, only what both permit is on.',
      'This device (DATE): Statistics',
      'Your account (DATE): Advertising',
      SCOPE,
    ],
    tr: [
      'Bu cihazdaki seçim ile hesabınızdaki seçim farklı. Siz seçene kadar yalnızca ikisinin de izin verdikleri açık.',
      'Bu cihaz (DATE): İstatistik',
      'Hesabınız (DATE): Reklam',
      `Oturumunuz açık. Seçiminiz hesabınız için, oturum açtığınız her cihazda geçerlidir. Şu grubun sitelerinde de geçerlidir: ${SPACE}`,
    ],
    ar: [
      'يختلف الاختيار على هذا الجهاز عن اختيار حسابك. وإلى أن تختار، لا يُشغَّل إلا ما يسمح به كلاهما.',
      'هذا الجهاز (DATE): إحصاءات',
      'حسابك (DATE): إعلانات',
      `أنت مسجّل الدخول. ينطبق اختيارك على حسابك، على كل جهاز تسجّل الدخول منه. وينطبق أيضًا على مواقع المجموعة: ${SPACE}`,
    ],
  };
  test.each(['en', 'tr', 'ar'] as const)(
    'two choices that differ are shown until the person decides: %s',
    async (language) => {
      await laptop.visit(signedIn(language));
      await choose(laptop, { marketing: true });
      await phone.visit({ language });
      await choose(phone, { analytics: true });
      await phone.visit(signedIn(language));
      const date = new Date().toLocaleDateString(language, { dateStyle: 'long' });
      const line = DIFFERENCES[language].join('\n').replaceAll('DATE', date);
      expect(await question(phone)).toBe(line);
      expect([await allowed(phone), await phone.ran()]).toEqual([['needed'], []]);
      expect(await faults(phone, `the question, ${language}`)).toEqual([]);
      await phone.click('settings');
      expect(await textOf(phone, 'dialog[open]')).toBe(line);
      expect(await faults(phone, `the settings, ${language}`)).toEqual([]);
      await phone.click('accept');
      expect(await recorded(2)).toMatchObject({
        decision: 'accepted',
        presentation: { account: { text: line, language } },
      });
      await phone.visit(signedIn(language));
      expect([await allowed(phone), await told(phone)]).toEqual([['chosen', 'analytics', 'marketing'], null]);
    },
  );

  test('signing out leaves what the device had, and an erasure ends what the account had', async () => {
    await laptop.visit();
    await choose(laptop, { analytics: true });
    const [cookies, own] = await stored(laptop);
    await laptop.visit(signedIn());
    await choose(laptop, { analytics: true, marketing: true });
    await recorded(1);
    expect(await allowed(laptop)).toEqual(['chosen', 'analytics', 'marketing']);
    await laptop.page.evaluate(`document.getElementById('out').click()`);
    await expect.poll(() => allowed(laptop)).toEqual(['chosen', 'analytics']);
    // Beside what the device had there is a mark, which names nobody (docs/accounts.md).
    const mark = expect.stringMatching(/^\["[0-9a-z]{8,14}"\]$/);
    expect(await stored(laptop)).toEqual([cookies, { ...own, '_svc_consent:seen': mark }]);
    expect(await faults(laptop, 'signed out')).toEqual([]);

    await phone.visit(signedIn());
    expect(await allowed(phone)).toEqual(['chosen', 'analytics', 'marketing']);
    await ledger.erase({ subject: { by: 'visitor_id', value: person } });
    await expect.poll(() => ledger.status({ visitor_id: person })).toEqual([]);
    await phone.visit(signedIn());
    expect([await allowed(phone), await question(phone)]).toEqual([['needed'], SCOPE]);
    expect(await faults(phone, 'asked again')).toEqual([]);
    await laptop.visit(signedIn());
    expect([await allowed(laptop), await told(laptop)]).toEqual([['chosen', 'analytics'], null]);
  });
});
