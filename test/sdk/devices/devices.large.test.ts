import { randomBytes, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { Consent, type MobileOptions, type RecordedChoice } from '../../../sdk/mobile/src/index.js';
import { ConsentLedger } from '../../../sdk/node/src/index.js';
import { DEMO_CONFIG } from '../../../src/demo/seed/demo-texts.js';
import type { SeededDemo } from '../../../src/demo/seed/seed-demo.js';
import { createApiKey } from '../../../src/tenancy/api-keys/api-keys.js';
import { publishSiteConfig } from '../../../src/tenancy/configuration/publish-site-config.js';
import { createDocument } from '../../../src/tenancy/documents/documents.js';
import { draftVersion } from '../../../src/tenancy/documents/drafts.js';
import { activateVersion, publishVersion } from '../../../src/tenancy/documents/version-states.js';
import { createSite } from '../../../src/tenancy/sites/sites.js';
import { type RunningApp, startApp } from '../../api/server/running-app.js';
import { ChromiumPage, chromiumPath } from '../../support/chromium.js';
import { freePort } from '../../support/free-port.js';
import { titleNeeding } from '../../support/missing-tools.js';
import { eventually } from '../../support/wait.js';
import { Device } from '../mobile/device.js';

const EXAMPLE = new URL('../../../docs/examples/devices/', import.meta.url);
const SDK = new URL('../../../sdk/browser/dist/index.js', import.meta.url);
const ORIGIN = 'app://com.example.shop';
/** A time after every choice of a test, in milliseconds from now. */
const LATER_MS = 3_600_000;

interface Backend {
  readonly consentBackend: (
    ledger: ConsentLedger,
    referenceOf: (request: IncomingMessage) => string | undefined,
  ) => Server;
}
const { consentBackend }: Backend = await import(new URL('backend.mjs', EXAMPLE).href);
const Mine = z.object({ visitor_id: z.string(), newest: z.custom<RecordedChoice>().nullable() });
const Form = z.object({ is_signed: z.boolean(), approval_token: z.string().nullable() });

/** A shop with accounts: its pages, and the example's routes. */
async function openShop(ledger: ConsentLedger, options: object, port: number) {
  /** By session: the reference of the account. */
  const sessions = new Map<string, string>();
  const backend = consentBackend(ledger, ({ headers }) =>
    sessions.get(/session=([\w-]+)/.exec(headers.cookie ?? '')?.[1] ?? ''),
  );
  const html = `<!doctype html><title>Shop</title><script type="importmap">{"imports":{"@consent-ledger/browser":"/index.js"}}</script>
    <script type="module">
      import { startForPerson } from '/page.js';
      window.consent = await startForPerson(${JSON.stringify(options)});
    </script>`;
  const files: Readonly<Record<string, { readonly type: string; readonly body: () => string | Promise<Buffer> }>> = {
    '/': { type: 'text/html', body: () => html },
    '/index.js': { type: 'text/javascript', body: () => readFile(SDK) },
    '/page.js': { type: 'text/javascript', body: () => readFile(new URL('page.js', EXAMPLE)) },
  };
  const server = createServer(async (request, response) => {
    const file = files[request.url ?? ''];
    if (file === undefined) backend.emit('request', request, response);
    else response.writeHead(200, { 'content-type': file.type }).end(await file.body());
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    /** @returns the session of an account, which has one reference for all of its devices */
    signIn: (reference: string): string => {
      const session = randomUUID();
      sessions.set(session, reference);
      return session;
    },
    ask: async (path: string, session: string): Promise<unknown> =>
      (await fetch(url + path, { headers: { cookie: `session=${session}` } })).json(),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe('one person on several devices', () => {
  let app: RunningApp;
  beforeAll(async () => {
    app = await startApp('serve');
  });
  afterAll(() => app?.stop());

  const ledgerOf = ({ keys, api_user }: SeededDemo, apiKey = keys.write) =>
    new ConsentLedger({ baseUrl: app.url, apiKey, user: api_user });
  const device = () =>
    new Device(
      () => 'arrives',
      () => 0,
    );
  const openApp = async (apiKey: string, visitorId: string, options: Partial<MobileOptions> = {}) => {
    const consent = new Consent({
      baseUrl: app.url,
      apiKey,
      visitorId,
      origin: ORIGIN,
      language: 'en',
      storage: device().storage(),
      randomBytes,
      ...options,
    });
    await consent.start();
    return consent;
  };
  const newestOf = (ledger: ConsentLedger, visitor_id: string, decision: string): Promise<RecordedChoice> => {
    const read = async () => (await ledger.status({ visitor_id, consent_type: 'cookie' }))[0];
    return eventually(async () => {
      const newest = await read();
      if (newest?.decision !== decision) throw new Error(`not ${decision} yet`);
      return newest;
    });
  };

  test.skipIf(chromiumPath === undefined)(
    titleNeeding('Chromium', chromiumPath !== undefined, 'the choice of an app counts in a browser, and back'),
    async () => {
      const port = await freePort();
      const demo = await app.seed({ allowedOrigins: [ORIGIN, `http://127.0.0.1:${port}`] });
      const ledger = ledgerOf(demo);
      const shop = await openShop(ledger, { baseUrl: app.url, apiKey: demo.keys.write }, port);
      const page = await ChromiumPage.open(chromiumPath ?? '');
      try {
        const reference = randomUUID();
        const phone = shop.signIn(reference);
        const onPhone = await openApp(demo.keys.write, reference);
        await onPhone.choose({ analytics: true });
        await newestOf(ledger, reference, 'partial');

        // The browser of the same person, which never asked.
        await page.send('Network.setCookie', { name: 'session', value: shop.signIn(reference), url: shop.url });
        await page.goto(`${shop.url}/`);
        const ask = (expression: string) => page.evaluate(expression);
        await expect.poll(() => ask('window.consent?.state.status')).toBe('chosen');
        expect(await ask(`['analytics', 'marketing'].map((one) => consent.allows(one))`)).toEqual([true, false]);
        expect(
          await ask(`document.querySelector('consent-banner')?.shadowRoot.querySelector('section') ?? null`),
        ).toBeNull();
        expect(await ask(`consent.records().length + consent.queued().length`)).toBe(0);
        await ask(`consent.rejectAll().then(() => true)`);
        await newestOf(ledger, reference, 'withdrawn');

        // Back on the phone: the withdrawal counts there, too.
        expect(onPhone.allows('analytics')).toBe(true);
        const { newest } = Mine.parse(await shop.ask('/consent/mine', phone));
        expect(newest !== null && (await onPhone.follow(newest))).toBe(true);
        expect(onPhone.allows('analytics')).toBe(false);
        expect(onPhone.state.choice?.decision).toBe('withdrawn');

        // A document that is signed on the phone is signed for the person.
        const form = Form.parse(await shop.ask('/consent/form', phone));
        const shown = await onPhone.document('explicit-consent');
        await onPhone.approve(shown, { decision: 'accepted', approval_token: form.approval_token });
        const inBrowser = `fetch('/consent/form').then((answer) => answer.json())`;
        await expect.poll(async () => Form.parse(await ask(inBrowser)).is_signed).toBe(true);

        // Another person who signs in has neither.
        const other = shop.signIn(randomUUID());
        expect(Mine.parse(await shop.ask('/consent/mine', other)).newest).toBeNull();
        expect(Form.parse(await shop.ask('/consent/form', other)).is_signed).toBe(false);
        expect(await shop.ask('/consent/mine', 'made-up')).toBeNull();
        onPhone.stop();
      } finally {
        await page.close();
        await shop.close();
      }
    },
  );

  describe('attacks', () => {
    let mine: SeededDemo;
    let theirs: SeededDemo;
    let sibling: { readonly id: string; readonly key: string; readonly version: string };
    const reference = randomUUID();
    let record: RecordedChoice;
    beforeAll(async () => {
      mine = await app.seed();
      theirs = await app.seed();
      const db = app.service.installation.adminPool;
      const site = await createSite(db, {
        tenantId: mine.tenant_id,
        name: 'Second shop',
        domain: 'second.example',
        isVerified: true,
        allowedOrigins: [],
        allowedIps: [],
      });
      await publishSiteConfig(db, site.id, DEMO_CONFIG, { forAnyDomain: true });
      const { id } = await createDocument(db, {
        siteId: site.id,
        slug: 'explicit-consent',
        kind: 'consent_form',
        requiresApprovalToken: true,
      });
      const text = { language: 'en', title: 'Form', mediaType: 'text/plain', content: 'I agree.' };
      const version = await draftVersion(db, { siteId: site.id, documentId: id, ...text });
      await publishVersion(db, site.id, version.id);
      await activateVersion(db, site.id, version.id);
      const { key } = await createApiKey(db, site.id, 'write');
      sibling = { id: site.id, key, version: version.id };
      const phone = await openApp(mine.keys.write, reference);
      await phone.acceptAll();
      record = await newestOf(ledgerOf(mine), reference, 'accepted');
      phone.stop();
    });

    test('the same reference at another tenant, or at another site of the tenant, has no consent', async () => {
      const query = { visitor_id: reference, consent_type: 'cookie' };
      expect(await ledgerOf(theirs).status(query)).toEqual([]);
      expect(await ledgerOf(mine, sibling.key).status(query)).toEqual([]);
      expect(await ledgerOf(mine).status(query)).toHaveLength(1);
    });

    test('a record of another tenant permits nothing, and sends nothing', async () => {
      const sent: string[] = [];
      const phone = await openApp(theirs.keys.write, reference, {
        fetch: (url, options) => {
          sent.push(options.method);
          return fetch(url, options);
        },
      });
      expect(await phone.follow(record)).toBe(false);
      expect(await phone.follow({ ...record, language: 'de' })).toBe(false);
      expect(phone.state.status).toBe('needed');
      expect(phone.allows('analytics')).toBe(false);
      expect(new Set(sent)).toEqual(new Set(['GET']));
      phone.stop();
    });

    test('an older, an expired, and a damaged record change nothing; a refusal is followed', async () => {
      const phone = await openApp(mine.keys.write, reference);
      await phone.rejectAll();
      const old = { ...record, created_at: '2020-01-01T00:00:00.000Z' };
      const later = new Date(Date.now() + LATER_MS).toISOString();
      for (const one of [
        record,
        old,
        { ...record, created_at: later, valid_until: '2020-01-01T00:00:00.000Z' },
        { ...record, created_at: 'tomorrow' },
        { ...record, created_at: later, consent_type: 'document_approval' },
        { ...record, created_at: later, categories: { necessary: true } },
      ])
        expect(await phone.follow(one), JSON.stringify(one)).toBe(false);
      expect(phone.allows('analytics')).toBe(false);
      await phone.acceptAll();
      expect(phone.allows('analytics')).toBe(true);
      const refusal = { ...record, created_at: later, decision: 'withdrawn' as const, categories: null };
      expect(await phone.follow(refusal)).toBe(true);
      expect(phone.allows('analytics')).toBe(false);
      phone.stop();
    });

    test('an imported consent counts only where the device has no choice, whatever times it states', async () => {
      const later = new Date(Date.now() + LATER_MS).toISOString();
      const claimed_at = '2020-01-01T00:00:00.000Z';
      const imported = { ...record, created_at: later, imported_from: 'Former tool', claimed_at };
      const phone = await openApp(mine.keys.write, reference);
      await phone.rejectAll();
      for (const one of [imported, { ...imported, claimed_at: later }]) expect(await phone.follow(one)).toBe(false);
      expect(phone.allows('analytics')).toBe(false);
      await phone.acceptAll();
      const refusal = { ...imported, decision: 'withdrawn' as const, categories: null };
      for (const one of [refusal, { ...refusal, claimed_at: later }]) expect(await phone.follow(one)).toBe(false);
      expect(phone.allows('analytics')).toBe(true);
      phone.stop();

      const fresh = await openApp(mine.keys.write, randomUUID());
      expect(await fresh.follow(imported)).toBe(true);
      expect(fresh.allows('analytics')).toBe(true);
      // It counts from the time that the tool states.
      const former = { ...record, created_at: '2021-01-01T00:00:00.000Z', decision: 'withdrawn' as const };
      expect(await fresh.follow(former)).toBe(true);
      expect(fresh.allows('analytics')).toBe(false);
      fresh.stop();
    });

    test('an approval token of one site is worth nothing at another one, and stays usable at its own', async () => {
      const request = { document_slug: 'explicit-consent', subject: reference };
      const { approval_token } = await ledgerOf(mine).mintApprovalToken(request);
      const approval = { consent_type: 'document_approval', decision: 'accepted', approval_token } as const;
      const versionOf = async (ledger: ConsentLedger) => (await ledger.document('explicit-consent', 'en')).version.id;
      for (const ledger of [ledgerOf(theirs), ledgerOf(mine, sibling.key)]) {
        const document_version_id = await versionOf(ledger);
        await expect(ledger.record({ ...approval, document_version_id })).rejects.toMatchObject({
          code: 'APPROVAL_TOKEN_INVALID',
        });
      }
      const document_version_id = await versionOf(ledgerOf(mine));
      expect(await ledgerOf(mine).record({ ...approval, document_version_id })).toMatchObject({ duplicate: false });
    });

    test('the backend of another tenant can neither mint a token nor read records with a key of this one', async () => {
      const stranger = new ConsentLedger({ baseUrl: app.url, apiKey: mine.keys.write, user: theirs.api_user });
      const request = { document_slug: 'explicit-consent', subject: reference };
      await expect(stranger.mintApprovalToken(request)).rejects.toMatchObject({ code: 'TENANT_MISMATCH' });
      await expect(stranger.exportRecords({ visitor_id: reference }).next()).rejects.toMatchObject({
        code: 'TENANT_MISMATCH',
      });
    });
  });
});
