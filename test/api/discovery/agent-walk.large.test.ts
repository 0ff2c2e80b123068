import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { ChromiumPage, chromiumPath } from '../../support/chromium.js';
import { startDnsServer, type TestDnsServer } from '../../support/dns-server.js';
import { freePort } from '../../support/free-port.js';
import { titleNeeding } from '../../support/missing-tools.js';
import { runCommands } from '../../support/run-program.js';
import { eventually, until } from '../../support/wait.js';
import { type RunningApp, startApp } from '../server/running-app.js';
import { codeBlocks } from './formats/agent-skills.js';

const MODULES = fileURLToPath(new URL('../../../node_modules', import.meta.url));
const Tokens = z.object({ data: z.object({ access_token: z.string() }) });
const Made = z.object({ data: z.object({ id: z.string(), secret: z.string() }) });

/** Reads the service as an agent that knows its address alone: it opens nothing but links of what it has read. */
class Reader {
  private constructor(
    readonly url: string,
    readonly text: string,
  ) {}

  static async at(url: string): Promise<Reader> {
    const response = await fetch(url);
    expect(response.status, url).toBe(200);
    return new Reader(url, await response.text());
  }

  /** Opens the link of a title. */
  follow(title: string): Promise<Reader> {
    const [, target] = this.text.split(`[${title}](`);
    if (target === undefined) throw new Error(`${this.url} has no link “${title}”`);
    return Reader.at(new URL(target.slice(0, target.indexOf(')')), this.url).href);
  }

  code(language: string): readonly string[] {
    return codeBlocks(this.text, language);
  }
}

/** Nothing that the walk does is known from elsewhere than llms.txt and its links. */
describe.skipIf(chromiumPath === undefined)(
  titleNeeding('Chromium', chromiumPath !== undefined, 'from llms.txt alone, an agent'),
  () => {
    let app: RunningApp;
    let dns: TestDnsServer;
    let shop: Server;
    let origin = '';
    let html = '';
    let page: ChromiumPage;
    let folder: string;
    let receiver: ChildProcess | undefined;
    let heard = '';
    let start: Reader;
    const known: Record<string, string> = {};

    beforeAll(async () => {
      dns = await startDnsServer();
      app = await startApp('serve', { DNS_SERVERS: dns.address, WEBHOOK_NETWORKS: '127.0.0.0/8' });
      const { panel_user: user } = await app.seed();
      const login = await fetch(`${app.url}/api/v1/auth/login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email: user.email, password: user.password }),
      });
      known.TOKEN = Tokens.parse(await login.json()).data.access_token;
      known.CONSENT_LEDGER_URL = app.url;
      shop = createServer((request, response) => {
        const isScript = request.url === '/analytics.js';
        response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
        response.end(isScript ? 'window.counted = true' : html);
      }).listen(0, '127.0.0.1');
      await once(shop, 'listening');
      const address = shop.address();
      origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
      folder = await mkdtemp(join(tmpdir(), 'consent-ledger-agent-'));
      await symlink(MODULES, join(folder, 'node_modules'));
      page = await ChromiumPage.open(chromiumPath ?? '');
      start = await Reader.at(`${app.url}/llms.txt`);
    });
    afterAll(async () => {
      receiver?.kill();
      await page?.close();
      shop?.close();
      await app?.stop();
      await dns?.close();
      await rm(folder, { recursive: true, force: true });
    });

    const run = async (commands: string): Promise<string> => {
      const { exitCode, stdout, stderr } = await runCommands(commands, { cwd: folder, env: known });
      expect({ exitCode, stderr }, stdout).toEqual({ exitCode: 0, stderr: '' });
      return stdout;
    };
    const filled = (snippet = '') => snippet.replaceAll(/CONSENT_LEDGER_\w+/g, (name) => known[name] ?? name);
    const inBanner = (expression: string) =>
      page.evaluate(`((banner) => ${expression})(document.querySelector('consent-banner')?.shadowRoot)`);
    /** Opens a page of the shop with a snippet, in a browser that has not chosen. */
    const visit = async (...snippets: readonly string[]): Promise<void> => {
      html = `<!doctype html><html lang="en"><head><title>Shop</title>${snippets.join('\n')}</head><body><h1>Shop</h1></body></html>`;
      await page.goto('about:blank');
      await page.send('Network.clearBrowserCookies');
      await page.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' });
      await page.goto(`${origin}/`);
      await page.until(
        async () => (await inBanner(`banner?.querySelector('section')?.textContent.includes('Cookies')`)) === true,
      );
    };

    test('reads what to ask a person for, and sets a site up', async () => {
      const skill = await start.follow('Set a site up');
      for (const name of ['CONSENT_LEDGER_KEY', 'CONSENT_LEDGER_USER', 'WEBHOOK_SECRET', 'TOKEN', 'DNS'])
        expect(skill.text.split('## In the dashboard')[0]).toContain(name);
      const [begin = '', verify = '', publish = '', origins = ''] = skill.code('sh');
      const [functions = ''] = begin.split('SITE=$(');
      const made = await run(`${begin}\necho "site $SITE"`);
      const [, name = ''] = /name: '([^']+)'/.exec(made) ?? [];
      const [, value = ''] = /value: '([^']+)'/.exec(made) ?? [];
      dns.records.set(name, [[value]]);
      [, known.SITE = ''] = /^site (\S+)$/m.exec(made) ?? [];
      const published = await run(`${functions}${verify}${publish}${origins.replace('http://localhost:3000', origin)}`);
      [, known.CONSENT_LEDGER_PAGE_KEY = ''] = /^(svc_live_\S+)$/m.exec(published) ?? [];
      expect(published).toContain('published\nactive\n');
    });

    test('puts the banner on a page, where a script waits for consent', async () => {
      const skill = await start.follow('Put the banner on a page');
      expect(await run(skill.code('sh')[0] ?? '')).toContain('"analytics"');
      const [plain, gated, button, manager] = skill.code('html').map(filled);
      await visit(plain ?? '', gated ?? '', button ?? '');
      expect(await page.evaluate('window.counted')).toBeUndefined();
      await inBanner(`banner.querySelector('[part=accept]').click()`);
      await page.until(async () => (await page.evaluate('window.counted')) === true);
      await visit(manager ?? '');
    });

    test('finds the pages that the skill names, and everything as one text', async () => {
      const skill = await start.follow('Put the banner on a page');
      const next = await skill.follow('layout');
      expect(next.text).toContain('<Banner />');
      const sdk = await skill.follow('sdk.md');
      expect(sdk.text).toContain('data-google-consent-mode');
      expect((await (await sdk.follow('sdk-react.md')).follow('sdk.md')).text).toBe(sdk.text);
      const whole = await start.follow('llms-full.txt');
      for (const words of ['data-api-key', 'data-consent', 'verifyWebhook', 'webhook-signature', '## Sign a request'])
        expect(whole.text).toContain(words);
    });

    test('receives a test message and a consent, verified by the SDK', async () => {
      const skill = await start.follow('Receive webhooks');
      const [add = '', attempt = ''] = skill.code('sh');
      const port = await freePort();
      known.RECEIVER_URL = `http://127.0.0.1:${port}/`;
      const [functions = ''] = add.split('panel POST');
      const { data } = Made.parse(JSON.parse(await run(add)));
      known.WEBHOOK = data.id;
      await writeFile(join(folder, 'receiver.mjs'), skill.code('js')[0] ?? '');
      receiver = spawn(process.execPath, ['receiver.mjs'], {
        cwd: folder,
        env: { PATH: process.env.PATH, WEBHOOK_SECRET: data.secret, PORT: String(port) },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      receiver.stdout?.setEncoding('utf8').on('data', (text: string) => {
        heard += text;
      });
      // A test message has one attempt: it would be lost before the receiver listens.
      await eventually(() => fetch(`http://127.0.0.1:${port}/`));
      expect(await run(`${functions}${attempt}`)).toContain('"webhook.test"');
      await until(() => heard.includes(`webhook.test {"site_id":"${known.SITE}","webhook_id":"${known.WEBHOOK}"}`));
      await inBanner(`banner.querySelector('[part=reject]').click()`);
      await until(() => /^consent\.recorded .*"decision":"rejected"/m.test(heard));
    });
  },
);
