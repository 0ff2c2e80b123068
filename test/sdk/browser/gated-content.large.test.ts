import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ChromiumPage, chromiumPath } from '../../support/chromium.js';
import { titleNeeding } from '../../support/missing-tools.js';

const GATE = fileURLToPath(new URL('../../../sdk/browser/src/gate.ts', import.meta.url));
const gated = (attributes: string, text = ''): string =>
  `<script type="text/plain" data-consent="a" ${attributes}>${text}</script>`;
const ran = (name: string): string => `ran.push('${name}');`;

/** A page that gates its content by `window.permits`, a list of categories. */
describe.skipIf(chromiumPath === undefined)(
  titleNeeding('Chromium', chromiumPath !== undefined, 'gated content in Chromium'),
  () => {
    let server: Server;
    let page: ChromiumPage;
    let origin: string;
    let pieces: readonly string[] = [];
    /** Scripts whose answer waits for the test, by path. */
    const held = new Map<string, ServerResponse>();
    /** Goes on with the next piece of the page. */
    let next: () => void = () => undefined;

    beforeAll(async () => {
      const built = await build({
        entryPoints: [GATE],
        bundle: true,
        write: false,
        format: 'iife',
        globalName: 'Gate',
      });
      const start = `${built.outputFiles[0]?.text ?? ''}
        window.ran = [];
        window.permits = ['a'];
        window.listeners = [];
        Gate.gateContent({ allows: (key) => permits.includes(key), subscribe: (tell) => listeners.push(tell) });`;
      server = createServer(async ({ url = '' }, response) => {
        if (url === '/page') {
          response.setHeader('content-type', 'text/html; charset=utf-8');
          response.write(`<!doctype html><title>Page</title><script>${start}</script><body>`);
          for (const [place, piece] of pieces.entries()) {
            if (place > 0) await new Promise<void>((resolve) => (next = resolve));
            response.write(piece);
          }
          response.end('<p id="end">End</p>');
        } else if (url.startsWith('/held/')) {
          response.setHeader('content-type', 'text/javascript');
          held.set(url, response);
        } else if (url.startsWith('/missing')) response.writeHead(404).end();
        else if (url.startsWith('/film'))
          response
            .setHeader('content-type', 'text/html')
            .end(`<script>setInterval(() => parent.postMessage('plays', '*'), 10)</script>`);
        else response.setHeader('content-type', 'text/javascript').end(ran(url.slice(1).replace('.js', '')));
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      origin = `http://127.0.0.1:${port}`;
      page = await ChromiumPage.open(chromiumPath ?? '');
    });
    afterAll(async () => {
      await page?.close();
      server?.closeAllConnections();
      server?.close();
    });
    beforeEach(() => held.clear());

    const visit = async (...parts: readonly string[]): Promise<void> => {
      pieces = parts;
      await page.send('Page.navigate', { url: `${origin}/page` });
    };
    const list = () => page.evaluate('window.ran ?? null');
    const has = (selector: string) =>
      page.until(async () => (await page.evaluate(`document.querySelector('${selector}') !== null`)) === true);
    const answer = async (name: string): Promise<void> => {
      await page.until(async () => held.has(`/held/${name}.js`));
      held.get(`/held/${name}.js`)?.end(ran(name));
    };

    test('of a page that arrives in pieces runs whole, and once', async () => {
      const script = gated('', `${ran('first')} /* half */ ${ran('second')}`);
      const [before = '', after = ''] = script.split('/* half */');
      await visit(`<main>${before}`, `${after}</main><p id="late"></p>`, '');
      await has('script[data-consent]');
      // A widget of the page that adds itself while the script is half there.
      await page.evaluate(`document.body.append('widget'), new Promise(requestAnimationFrame).then(() => true)`);
      expect(await list()).toEqual([]);
      next();
      await has('#late');
      next();
      await has('#end');
      await expect.poll(list).toEqual(['first', 'second']);
    });

    test('of two categories runs when both are permitted', async () => {
      await visit(gated('', ran('both')).replace('"a"', '"a b"') + gated('', ran('one')));
      await has('#end');
      await expect.poll(list).toEqual(['one']);
      await page.evaluate('permits = ["a", "b"], listeners.forEach((tell) => tell()), true');
      await expect.poll(list).toEqual(['one', 'both']);
    });

    test('runs in the order of the page, deferred scripts and modules last', async () => {
      await visit(
        gated('src="/deferred.js" defer') +
          gated('data-type="module"', ran('module')) +
          gated('src="/held/async.js" async') +
          gated('src="/held/library.js"') +
          gated('', ran('inline')) +
          gated('src="/old.js" nomodule') +
          gated('src="/missing.js"') +
          gated('src="/last.js"') +
          gated('data-type="application/json"', '{}'),
      );
      await has('#end');
      await answer('library');
      await expect.poll(list).toEqual(['library', 'inline', 'last', 'deferred', 'module']);
      await answer('async');
      await expect.poll(list).toEqual(['library', 'inline', 'last', 'deferred', 'module', 'async']);
    });

    test('does not run if the permission ends while a script before it loads', async () => {
      await visit(gated('src="/held/library.js"') + gated('', ran('inline')));
      await page.until(async () => held.has('/held/library.js'));
      await page.evaluate('permits = [], listeners.forEach((tell) => tell()), true');
      await answer('library');
      await expect.poll(list).toEqual(['library']);
      await page.evaluate('permits = ["a"], listeners.forEach((tell) => tell()), true');
      await expect.poll(list).toEqual(['library', 'inline']);
    });

    test('that was embedded ends at once with the permission, and comes back with it', async () => {
      const embedded = (tag: string, end = '') =>
        `<${tag} data-consent="a" data-consent-src="/film-${tag.split(' ')[0]}">${end}`;
      await visit(
        `<script>window.plays = 0; addEventListener('message', () => { plays += 1; });</script>`,
        embedded('iframe', '</iframe>') + embedded('img') + embedded('object', '</object>') + embedded('link rel="x"'),
      );
      next();
      await has('#end');
      const addresses = `['iframe', 'img', 'object', 'link'].map((name) => { const one = document.querySelector('main, body').querySelector(name); return one.getAttribute('src') ?? one.getAttribute('data') ?? one.getAttribute('href'); })`;
      const loaded = ['/film-iframe', '/film-img', '/film-object', '/film-link'];
      await expect.poll(() => page.evaluate(addresses)).toEqual(loaded.map((one) => expect.stringContaining(one)));
      await page.until(async () => Number(await page.evaluate('plays')) > 0);
      await page.evaluate('permits = [], listeners.forEach((tell) => tell()), true');
      expect(await page.evaluate(addresses)).toEqual([null, null, null, null]);
      await page.until(async () => (await page.evaluate(`frames[0].location.href === 'about:blank'`)) === true);
      await page.evaluate('permits = ["a"], plays = 0, listeners.forEach((tell) => tell()), true');
      await page.until(async () => Number(await page.evaluate('plays')) > 0);
    });

    test('cannot replace the page by document.write', async () => {
      await visit(gated('', `document.write('<p>written</p>'); document.writeln('x'); ${ran('writer')}`));
      await has('#end');
      await expect.poll(list).toEqual(['writer']);
      expect(await page.evaluate(`[...document.querySelectorAll('p')].map(({ id }) => id)`)).toEqual(['end']);
      expect(JSON.stringify(page.events('Runtime.consoleAPICalled'))).toContain('must not call document.write');
      // The page itself may still write.
      await page.evaluate(`document.write('own'), document.close(), true`);
      expect(await page.evaluate('document.body.textContent')).toContain('own');
    });
  },
);
