import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ConsentLedger } from '../../../sdk/node/src/index.js';
import { type RunningApp, startApp } from '../../api/server/running-app.js';
import { ChromiumPage, chromiumPath } from '../../support/chromium.js';
import { freePort } from '../../support/free-port.js';
import { titleNeeding } from '../../support/missing-tools.js';
import { bundled, type PageSite, type ServedPage } from './built-pages.js';

const isBuilt = existsSync(fileURLToPath(new URL('../../../sdk/react/dist/index.js', import.meta.url)));
const canRun = chromiumPath !== undefined && isBuilt;

/** The question of docs/sdk-react.md, in a page. */
async function documented(site: PageSite): Promise<ServedPage> {
  const text = await readFile(new URL('../../../docs/sdk-react.md', import.meta.url), 'utf8');
  const [, question = ''] = /```jsx\n(const \{ layer,[\s\S]*?)```/.exec(text) ?? [];
  const entry = `
    import { ConsentProvider, Gate, SettingsButton, useConsent } from '@consent-ledger/react';
    import { StrictMode } from 'react';
    import { createRoot } from 'react-dom/client';
    const { VITE_CONSENT_SERVICE, VITE_CONSENT_KEY } = import.meta.env;
    function Question() {
      ${question}
      return null;
    }
    function Settings() {
      const { layer, categories, withdraw } = useConsent();
      if (layer !== 'settings') return null;
      return <dialog open>{categories.map(({ key }) => <i key={key}>{key}</i>)}<button onClick={() => withdraw()}>Withdraw</button></dialog>;
    }
    createRoot(document.getElementById('root')).render(
      <StrictMode><ConsentProvider baseUrl={VITE_CONSENT_SERVICE} apiKey={VITE_CONSENT_KEY}>
        <Question /><Settings /><SettingsButton />
        <Gate category={['analytics', 'marketing']} fallback="Off">On</Gate>
      </ConsentProvider></StrictMode>);`;
  return bundled('react-vite', site, { entry });
}

/** The banner of the SDK, and a button that has the site's own label once it is known. */
function bannerAndButton(site: PageSite): Promise<ServedPage> {
  const entry = `
    import { Banner, ConsentProvider, SettingsButton } from '@consent-ledger/react';
    import { createRoot } from 'react-dom/client';
    const { VITE_CONSENT_SERVICE, VITE_CONSENT_KEY } = import.meta.env;
    createRoot(document.getElementById('root')).render(
      <ConsentProvider baseUrl={VITE_CONSENT_SERVICE} apiKey={VITE_CONSENT_KEY}><Banner /><SettingsButton /></ConsentProvider>);`;
  return bundled('react-vite', site, { entry });
}

/** The screen of React Native, with elements of a page in place of those of a device. */
function screen(site: PageSite): Promise<ServedPage> {
  const native = `
    import { createElement } from 'react';
    export const View = ({ children }) => createElement('div', null, children);
    export const Text = ({ children }) => createElement('span', null, children);
    export const Button = ({ title, onPress }) => createElement('button', { onClick: onPress }, title);
    export const Switch = ({ value, disabled, accessibilityLabel, onValueChange }) =>
      createElement('input', { type: 'checkbox', checked: value, disabled, 'aria-label': accessibilityLabel,
        onChange: ({ target }) => onValueChange(target.checked) });
    export const AppState = { addEventListener: () => ({ remove() {} }) };`;
  const storage = `
    export default {
      getAllKeys: async () => Object.keys(localStorage),
      getItem: async (key) => localStorage.getItem(key),
      setItem: async (key, value) => localStorage.setItem(key, value),
      removeItem: async (key) => localStorage.removeItem(key),
    };`;
  const modules = {
    'react-native': native,
    '@react-native-async-storage/async-storage': storage,
    'expo-crypto': 'export const getRandomBytes = (count) => crypto.getRandomValues(new Uint8Array(count));',
    './service.js': `export const SERVICE = '${site.service}'; export const API_KEY = '${site.apiKey}';`,
  };
  const entry = `
    import App from './App.jsx';
    import { createRoot } from 'react-dom/client';
    createRoot(document.getElementById('root')).render(<App />);`;
  return bundled('react-native', site, { entry, modules });
}

describe.skipIf(!canRun)(titleNeeding('Chromium, or the built SDK,', canRun, 'a question of the page or app'), () => {
  let app: RunningApp;
  let page: ChromiumPage;
  beforeAll(async () => {
    app = await startApp('serve');
    page = await ChromiumPage.open(chromiumPath ?? '');
  });
  afterAll(async () => {
    await page?.close();
    await app?.stop();
  });

  /** A label of the service in English. */
  const label = async (name: string): Promise<string> =>
    String(await page.evaluate(`JSON.parse(localStorage['_svc_consent:config:en']).configuration.labels.${name}.text`));

  const visit = async (build: (site: PageSite) => Promise<ServedPage>) => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}/`;
    const demo = await app.seed({ allowedOrigins: [`http://127.0.0.1:${port}`] });
    const served = await build({ service: app.url, apiKey: demo.keys.write, port });
    // Ports share cookies, and a refusal stands under another policy.
    await page.send('Network.clearBrowserCookies');
    await page.goto(url);
    const ledger = new ConsentLedger({ baseUrl: app.url, apiKey: demo.keys.write, user: demo.api_user });
    return {
      reload: () => page.goto(url),
      close: () => served.close(),
      text: () => page.evaluate('document.body.innerText'),
      press: async (label: string) => {
        const found = `[...document.querySelectorAll('button')].find((one) => one.textContent === ${JSON.stringify(label)})`;
        await page.until(async () => (await page.evaluate(`${found} !== undefined`)) === true);
        await page.evaluate(`${found}.click()`);
      },
      decisions: async (): Promise<readonly string[]> => {
        const found: string[] = [];
        for await (const { decision } of ledger.exportRecords()) found.push(decision);
        return found.toSorted();
      },
    };
  };

  test('the documented question of a page: it closes with a choice, and the settings withdraw', async () => {
    const shop = await visit(documented);
    await expect.poll(shop.text).toContain('Off');
    await shop.press('Accept all');
    await expect.poll(shop.text).toBe('Cookie settingsOn');
    await shop.press('Cookie settings');
    await expect.poll(shop.text).toContain('necessary');
    await shop.press('Withdraw');
    await expect.poll(shop.text).toBe('Cookie settingsOff');
    await expect.poll(shop.decisions).toEqual(['accepted', 'withdrawn']);
    await shop.close();
  });

  test('a button with the label of the site is the only one that opens the settings', async () => {
    const shop = await visit(bannerAndButton);
    const inBanner = (part: string) => `document.querySelector('consent-banner')?.shadowRoot.querySelector('${part}')`;
    await expect.poll(() => page.evaluate(`${inBanner('[part=accept]')} != null`)).toBe(true);
    await page.evaluate(`${inBanner('[part=accept]')}.click()`);
    await expect.poll(() => page.evaluate(`${inBanner('section')} == null`)).toBe(true);
    expect(await page.evaluate(`${inBanner('.open')} == null`)).toBe(true);
    await shop.press('Cookie settings');
    await expect.poll(() => page.evaluate(`${inBanner('dialog[open]')} != null`)).toBe(true);
    await shop.close();
  });

  test('the screen of React Native: one category is permitted, and is known after a restart', async () => {
    const phone = await visit(screen);
    await expect.poll(phone.text).toContain('Statistics are off.');
    await phone.press('Cookie settings');
    await page.until(async () => (await page.evaluate(`document.querySelectorAll('input').length`)) === 3);
    expect(await page.evaluate(`[...document.querySelectorAll('input')].map(({ checked }) => checked)`)).toEqual([
      true,
      false,
      false,
    ]);
    await page.evaluate(`document.querySelectorAll('input')[1].click()`);
    await phone.press(await label('save'));
    await expect.poll(phone.text).toContain('Statistics are on.');
    await expect.poll(phone.decisions).toEqual(['partial']);
    await phone.reload();
    await expect.poll(phone.text).toContain('Statistics are on.');
    await phone.press('Withdraw');
    await expect.poll(phone.text).toContain('Statistics are off.');
    await expect.poll(phone.decisions).toEqual(['partial', 'withdrawn']);
    await phone.close();
  });
});
