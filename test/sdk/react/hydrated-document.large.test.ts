import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type RunningApp, startApp } from '../../api/server/running-app.js';
import { ChromiumPage, chromiumPath } from '../../support/chromium.js';
import { titleNeeding } from '../../support/missing-tools.js';
import { runProgram } from '../../support/run-program.js';
import { isExhaustive } from '../../support/sweeps.js';
import { installFrameworks, ofFrameworks } from './built-pages.js';

const SCRIPT = fileURLToPath(new URL('../../../sdk/browser/dist/consent.js', import.meta.url));
const HERE = fileURLToPath(new URL('.', import.meta.url));
const canRun = chromiumPath !== undefined && existsSync(SCRIPT);
/** Folder of React 18, with `react-18` and `react-dom-18`; that of the repository is 19. */
const { REACT_18 = ofFrameworks('') } = process.env;

/** The document that the server draws and the browser takes over. */
const PAGE = `
  import { createElement as h, useEffect } from 'react';
  export const Page = ({ script }) => {
    useEffect(() => { window.isTakenOver = true; }, []);
    return h('html', { lang: 'en' },
      h('head', null, h('meta', { charSet: 'utf-8' }), h('title', null, 'Shop'), h('script', script)),
      h('body', null, h('main', null, h('h1', null, 'Shop'), h('label', null, 'Name ', h('input', { id: 'name' }))), h('script', { src: '/take-over.js' })));
  };`;
const SERVER = `
  import { createElement } from 'react';
  import { renderToString } from 'react-dom/server';
  import { Page } from './page.js';
  process.stdout.write('<!doctype html>' + renderToString(createElement(Page, { script: JSON.parse(process.argv[2]) })));`;
const CLIENT = `
  import { createElement } from 'react';
  import { hydrateRoot } from 'react-dom/client';
  import { Page } from './page.js';
  window.errors = [];
  window.takeOver = (script) => hydrateRoot(document, createElement(Page, { script }), { onRecoverableError: ({ message }) => errors.push(message) });`;

const versions = ['19', ...(isExhaustive() || process.env.REACT_18 !== undefined ? ['18'] : [])];

describe.skipIf(!canRun)(
  titleNeeding('Chromium, or the built SDK,', canRun, 'a document that React takes over'),
  () => {
    let app: RunningApp;
    let server: Server;
    let page: ChromiumPage;
    let folder = '';
    let html = '';
    let client = '';
    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'consent-ledger-react-'));
      app = await startApp('serve');
      server = createServer(async ({ url }, response) => {
        const isPage = url === '/';
        const body = isPage ? html : url === '/consent.js' ? await readFile(SCRIPT, 'utf8') : client;
        response.setHeader('content-type', isPage ? 'text/html' : 'text/javascript').end(body);
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      page = await ChromiumPage.open(chromiumPath ?? '');
    });
    afterEach(async () => {
      await page?.close();
      await app?.stop();
      server?.closeAllConnections();
      server?.close();
      await rm(folder, { recursive: true, force: true });
    });

    test.each(versions)('React %s keeps what was typed, and reports no error', async (version) => {
      if (version === '18' && process.env.REACT_18 === undefined) await installFrameworks();
      const { port } = server.address() as AddressInfo;
      const demo = await app.seed({ allowedOrigins: [`http://127.0.0.1:${port}`] });
      const script = { src: '/consent.js', 'data-api-key': demo.keys.write, 'data-base-url': app.url };
      const bundle = async (contents: string, platform: 'node' | 'browser'): Promise<string> => {
        const { outputFiles } = await build({
          stdin: { contents, resolveDir: HERE },
          bundle: true,
          write: false,
          platform,
          format: platform === 'node' ? 'cjs' : 'iife',
          define: { 'process.env.NODE_ENV': '"production"' },
          alias:
            version === '18' ? { react: join(REACT_18, 'react-18'), 'react-dom': join(REACT_18, 'react-dom-18') } : {},
          plugins: [
            {
              name: 'page',
              setup: ({ onResolve, onLoad }) => {
                onResolve({ filter: /^\.\/page\.js$/ }, () => ({ path: 'page', namespace: 'page' }));
                onLoad({ filter: /.*/, namespace: 'page' }, () => ({ contents: PAGE, resolveDir: HERE }));
              },
            },
          ],
        });
        return outputFiles?.[0]?.text ?? '';
      };
      await writeFile(join(folder, 'server.cjs'), await bundle(SERVER, 'node'));
      const drawn = await runProgram(process.execPath, [join(folder, 'server.cjs'), JSON.stringify(script)]);
      html = drawn.stdout;
      client = await bundle(CLIENT, 'browser');
      await page.goto(`http://127.0.0.1:${port}/`);
      const banner = (selector: string) =>
        page.evaluate(`document.querySelector('consent-banner')?.shadowRoot.querySelector('${selector}') != null`);
      await expect.poll(() => banner('section')).toBe(true);
      await page.evaluate(`document.querySelector('#name').focus()`);
      await page.send('Input.insertText', { text: 'Ann' });
      await page.evaluate(`(takeOver(${JSON.stringify(script)}), true)`);
      await expect.poll(() => page.evaluate('window.isTakenOver === true')).toBe(true);
      expect(await page.evaluate('[errors, document.querySelector("#name").value]')).toEqual([[], 'Ann']);
      expect(await banner('section')).toBe(true);
    });
  },
);
