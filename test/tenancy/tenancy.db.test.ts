import { createSecretKey, randomBytes, randomUUID } from 'node:crypto';
import pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { sha256Hex } from '../../schemas/crypto/digest.js';
import { PublicEventBody } from '../../schemas/events/notices.js';
import { noticesStream } from '../../schemas/events/streams.js';
import { createPasswordCheck } from '../../src/accounts/sign-in/check-password.js';
import { createUser } from '../../src/accounts/users/users.js';
import { DEMO_CONFIG } from '../../src/demo/seed/demo-texts.js';
import { createPool } from '../../src/platform/database/pool.js';
import { createKeyring, type Keyring } from '../../src/platform/keys/index.js';
import { apiKeyDigest, createApiKey, revokeApiKey } from '../../src/tenancy/api-keys/api-keys.js';
import { publishSiteConfig } from '../../src/tenancy/configuration/publish-site-config.js';
import type { SiteDirectory } from '../../src/tenancy/directory/site-context.js';
import { createSiteDirectory } from '../../src/tenancy/directory/site-directory.js';
import { readContent } from '../../src/tenancy/documents/content.js';
import { createDocument } from '../../src/tenancy/documents/documents.js';
import { draftVersion, type NewVersion } from '../../src/tenancy/documents/drafts.js';
import { activateVersion, publishVersion, retireVersion } from '../../src/tenancy/documents/version-states.js';
import type { ProofKind } from '../../src/tenancy/domains/challenges.js';
import type { ProofLook } from '../../src/tenancy/domains/page-proof.js';
import { lookThrough } from '../../src/tenancy/domains/proof-part.js';
import { challengeOfSite, verifySite } from '../../src/tenancy/domains/verify-site.js';
import { findTarget, targetAt } from '../../src/tenancy/scans/scan-target.js';
import { changeSiteSettings, createSite } from '../../src/tenancy/sites/sites.js';
import { changeSubscription, createTenant, PLANS } from '../../src/tenancy/tenants/tenants.js';
import { createTestDatabase, type TestDatabase } from '../support/postgres.js';

describe('tenancy', () => {
  let database: TestDatabase;
  let db: pg.Pool;
  let apiPool: pg.Pool;
  let workerPool: pg.Pool;
  let keyring: Keyring;
  let directory: SiteDirectory;
  let tenantId: string;
  beforeAll(async () => {
    database = await createTestDatabase();
    const options = {
      url: database.url,
      applicationName: 'catalogue test',
      maxConnections: 5,
      statementTimeoutMs: 30_000,
    };
    apiPool = createPool({ ...options, role: 'consent_ledger_api', onIdleError: () => undefined });
    workerPool = createPool({ ...options, role: 'consent_ledger_worker', onIdleError: () => undefined });
    keyring = await createKeyring(workerPool, createSecretKey(randomBytes(32)));
    db = createPool({
      ...options,
      role: 'consent_ledger_admin',
      onIdleError: () => undefined,
      transactions: keyring.sealing,
    });
    directory = createSiteDirectory(apiPool, keyring);
    tenantId = (await createTenant(db, 'Shop', PLANS.standard)).id;
  });
  afterAll(async () => {
    await Promise.all([db.end(), apiPool.end(), workerPool.end()]);
    await database.drop();
  });

  const newSite = async (): Promise<string> => {
    const site = {
      tenantId,
      name: 'Shop',
      domain: 'shop.example',
      isVerified: true,
      allowedOrigins: [],
      allowedIps: [],
    };
    return (await createSite(db, site)).id;
  };
  const newDocument = async (siteId: string, slug = 'terms'): Promise<string> =>
    (await createDocument(db, { siteId, slug, kind: 'terms', requiresApprovalToken: false })).id;
  const draft = (siteId: string, documentId: string, more: Partial<NewVersion> = {}) =>
    draftVersion(db, {
      siteId,
      documentId,
      language: 'en',
      title: 'Terms',
      mediaType: 'text/plain',
      content: 'Text',
      ...more,
    });
  const published = async (siteId: string, documentId: string, more: Partial<NewVersion> = {}): Promise<string> => {
    const { id } = await draft(siteId, documentId, more);
    await publishVersion(db, siteId, id);
    return id;
  };
  const eventsOf = async (siteId: string) => {
    const { rows } = await apiPool.query(
      'select type, data as body from event_log.stored_events where stream = $1 order by revision',
      [noticesStream(siteId)],
    );
    return z
      .array(z.object({ type: z.string(), body: z.instanceof(Buffer) }))
      .parse(rows)
      .map(({ type, body }) => {
        const { record } = PublicEventBody.parse(JSON.parse(body.toString('utf8')));
        return {
          type,
          record: z.looseObject({ document_version_id: z.string().optional() }).parse(JSON.parse(record)),
        };
      });
  };
  const revisionOf = async (siteId: string) => (await directory.refresh(siteId)).configRevision;

  it('moves a version from draft to retired, and logs each step in the same transaction', async () => {
    const siteId = await newSite();
    const documentId = await newDocument(siteId);
    const first = await published(siteId, documentId);
    await activateVersion(db, siteId, first);
    const second = await published(siteId, documentId, { content: 'Another text' });
    expect(await activateVersion(db, siteId, second)).toEqual({ changed: true, retired: first, attachedSiteIds: [] });
    expect([...(await directory.refresh(siteId)).activeVersions.keys()]).toEqual([second]);
    await retireVersion(db, siteId, second);
    expect((await directory.refresh(siteId)).activeVersions.size).toBe(0);
    expect((await eventsOf(siteId)).map(({ type, record }) => [type, record.document_version_id])).toEqual([
      ['DocumentVersionPublished.v1', first],
      ['DocumentVersionActivated.v1', first],
      ['DocumentVersionPublished.v1', second],
      ['DocumentVersionRetired.v1', first],
      ['DocumentVersionActivated.v1', second],
      ['DocumentVersionRetired.v1', second],
    ]);
  });

  it('refuses steps in the wrong order, and versions of another site', async () => {
    const siteId = await newSite();
    const documentId = await newDocument(siteId);
    const { id } = await draft(siteId, documentId);
    await expect(activateVersion(db, siteId, id)).rejects.toMatchObject({ code: 'wrong_state' });
    await expect(retireVersion(db, siteId, id)).rejects.toMatchObject({ code: 'wrong_state' });
    await publishVersion(db, siteId, id);
    await expect(publishVersion(db, siteId, id)).rejects.toMatchObject({ code: 'wrong_state' });
    await activateVersion(db, siteId, id);
    expect(await activateVersion(db, siteId, id)).toEqual({ changed: false, retired: null, attachedSiteIds: [] });
    await retireVersion(db, siteId, id);
    await retireVersion(db, siteId, id);
    await expect(activateVersion(db, siteId, id)).rejects.toMatchObject({ code: 'wrong_state' });
    await expect(publishVersion(db, await newSite(), id)).rejects.toMatchObject({ code: 'not_found' });
    await expect(publishVersion(db, randomUUID(), id)).rejects.toMatchObject({ code: 'not_found' });
    await expect(newDocument(siteId)).rejects.toMatchObject({ code: 'already_exists' });
    await expect(newDocument(siteId, 'Not A Slug')).rejects.toMatchObject({ code: 'invalid' });
    await expect(draft(siteId, documentId, { content: '' })).rejects.toMatchObject({ code: 'invalid' });
    await expect(draft(siteId, documentId, { content: '\ud800' })).rejects.toMatchObject({ code: 'invalid' });
    await expect(draft(siteId, documentId, { mediaType: 'text/html; charset=x' })).rejects.toMatchObject({
      code: 'invalid',
    });
    await expect(
      draft(siteId, documentId, { mediaType: 'application/pdf', content: 'no base64!' }),
    ).rejects.toMatchObject({ code: 'invalid' });
    expect(await eventsOf(siteId)).toHaveLength(3);
  });

  it('hashes the bytes of a text and the decoded bytes of base64', async () => {
    const siteId = await newSite();
    const documentId = await newDocument(siteId);
    const bytes = randomBytes(100);
    const pdf = await published(siteId, documentId, {
      mediaType: 'application/pdf',
      content: bytes.toString('base64'),
    });
    const text = await published(siteId, documentId, { language: 'tr', content: 'Metin ışık' });
    await activateVersion(db, siteId, pdf);
    await activateVersion(db, siteId, text);
    const { activeVersions } = await directory.refresh(siteId);
    const hashOf = (id: string): string => activeVersions.get(id)?.contentSha256 ?? '';
    expect(Buffer.from(await readContent(db, hashOf(pdf)))).toEqual(bytes);
    expect(hashOf(text)).toBe(sha256Hex('Metin ışık'));
  });

  it('activates two concurrent versions one after the other, never both', async () => {
    const siteId = await newSite();
    const documentId = await newDocument(siteId);
    const versions = await Promise.all(
      [1, 2, 3, 4].map((n) => published(siteId, documentId, { content: `Text ${n}` })),
    );
    await Promise.all(versions.map((id) => activateVersion(db, siteId, id)));
    const { activeVersions } = await directory.refresh(siteId);
    expect(activeVersions.size).toBe(1);
    expect([...activeVersions.values()][0]?.number).toBeGreaterThan(0);
    const types = (await eventsOf(siteId)).map(({ type }) => type);
    expect(types.filter((type) => type === 'DocumentVersionRetired.v1')).toHaveLength(3);
  });

  it('publishes configurations under the hash of their text, with the newest in force', async () => {
    const siteId = await newSite();
    expect((await directory.refresh(siteId)).config).toBeNull();
    const first = await publishSiteConfig(db, siteId, DEMO_CONFIG);
    const second = await publishSiteConfig(db, siteId, { ...DEMO_CONFIG, validity_days: null });
    expect([first.number, second.number]).toEqual([1, 2]);
    const { config } = await directory.refresh(siteId);
    expect(config).toMatchObject({
      sha256: second.sha256,
      record: { number: 2, validity_days: null, domain: 'shop.example' },
    });
    const wrong = publishSiteConfig.bind(null, db, siteId, { ...DEMO_CONFIG, default_language: 'fr' });
    expect(wrong).toThrow(/default_language/);
  });

  it('increases the revision with every change that is relevant to admission', async () => {
    const siteId = await newSite();
    let last = await revisionOf(siteId);
    const documentId = await newDocument(siteId);
    const version = await published(siteId, documentId);
    const key = await createApiKey(db, siteId, 'read');
    const changes: (() => Promise<unknown>)[] = [
      () => publishSiteConfig(db, siteId, DEMO_CONFIG),
      () => activateVersion(db, siteId, version),
      () => retireVersion(db, siteId, version),
      () => revokeApiKey(db, siteId, key.id),
      () => changeSubscription(db, tenantId, { ...PLANS.standard, consentQuota: 5 }),
      () => changeSubscription(db, tenantId, null),
      () => changeSubscription(db, tenantId, PLANS.standard),
    ];
    for (const change of changes) {
      await change();
      const now = await revisionOf(siteId);
      expect(now).toBeGreaterThan(last);
      last = now;
    }
  });

  it('stores only a digest of an API key, and finds the key by it', async () => {
    const siteId = await newSite();
    const { id, key } = await createApiKey(db, siteId, 'write');
    expect(key).toMatch(/^svc_live_[A-Za-z0-9_-]{43}$/);
    const { rows } = await db.query('select to_jsonb(k)::text as row, digest from api_keys k where id = $1', [id]);
    const [kept] = z.tuple([z.object({ row: z.string(), digest: z.instanceof(Buffer) })]).parse(rows);
    expect(kept.digest).toEqual(apiKeyDigest(key));
    expect(kept.row).not.toContain(key.slice(20));
    expect(await directory.findApiKey(key)).toEqual({ id, siteId, scope: 'write', restriction: null, mode: 'live' });
    expect(await directory.findApiKey(`${key.slice(0, -1)}${key.endsWith('A') ? 'E' : 'A'}`)).toBeNull();
    await revokeApiKey(db, siteId, id);
    await expect.poll(() => directory.findApiKey(key)).toBeNull();
  });

  it('finds the keys of concurrent requests by one statement, each its own', async () => {
    const [first, second] = [await newSite(), await newSite()];
    const keys = [await createApiKey(db, first, 'write'), await createApiKey(db, second, 'read')];
    const altered = await createApiKey(db, second, 'read');
    const owner = new pg.Client({ connectionString: database.url });
    await owner.connect();
    await owner.query(`update api_keys set scope = 'write' where id = $1`, [altered.id]);
    await owner.end();
    const unknown = `${altered.key.slice(0, -1)}${altered.key.endsWith('A') ? 'E' : 'A'}`;
    const query = vi.spyOn(apiPool, 'query');
    const found = await Promise.all([...keys, altered, { key: unknown }].map(({ key }) => directory.findApiKey(key)));
    expect(query).toHaveBeenCalledTimes(1);
    query.mockRestore();
    expect(found.map((key) => key && [key.id, key.siteId, key.scope])).toEqual([
      [keys[0]?.id, first, 'write'],
      [keys[1]?.id, second, 'read'],
      null,
      null,
    ]);
  });

  it('sees a change within a second, without a notification', async () => {
    const siteId = await newSite();
    expect((await directory.site(siteId)).config).toBeNull();
    await publishSiteConfig(db, siteId, DEMO_CONFIG);
    const deadline = performance.now() + 1000;
    while (performance.now() < deadline) await directory.site(siteId);
    expect((await directory.site(siteId)).config).not.toBeNull();
  });

  it('never returns an altered notice or configuration', async () => {
    const owner = createPool({
      url: database.url,
      applicationName: 'owner',
      maxConnections: 1,
      statementTimeoutMs: 5000,
      onIdleError: () => undefined,
    });
    const siteId = await newSite();
    const content = `Text ${randomUUID()}`;
    await draft(siteId, await newDocument(siteId), { content });
    expect(await db.query(`update notice_contents set content = 'x'`).catch((error: Error) => error.message)).toMatch(
      /permission denied/,
    );
    await owner.query(`update notice_contents set content = 'x' where sha256 = $1`, [sha256Hex(content)]);
    await expect(readContent(db, sha256Hex(content))).rejects.toThrow(/altered/);
    await publishSiteConfig(db, siteId, DEMO_CONFIG);
    await owner.query(`update site_configs set record = replace(record, 'Shop', 'Shap') where site_id = $1`, [siteId]);
    await expect(directory.refresh(siteId)).rejects.toThrow();
    await owner.end();
  });

  it('checks passwords, and refuses weak passwords and existing users', async () => {
    const check = createPasswordCheck({ apiPool: db, adminPool: db, seals: keyring });
    const user = { tenantId, email: 'Owner@Shop.Example', password: 'correct horse battery', role: 'owner' as const };
    const { id } = await createUser(db, user);
    expect((await check('owner@shop.example', user.password))?.user).toEqual({
      id,
      tenantId,
      email: 'owner@shop.example',
      role: 'owner',
    });
    expect(await check('OWNER@shop.example', user.password)).not.toBeNull();
    expect(await check('owner@shop.example', 'wrong')).toBeNull();
    expect(await check('nobody@shop.example', user.password)).toBeNull();
    await expect(createUser(db, user)).rejects.toMatchObject({ code: 'already_exists' });
    await expect(createUser(db, { ...user, email: 'a@b.example', password: 'short' })).rejects.toMatchObject({
      code: 'invalid',
    });
    const { rows } = await db.query('select password_hash from users where id = $1', [id]);
    expect(rows[0]?.password_hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  });

  describe('the proof of a domain by a page', () => {
    const never = new AbortController().signal;
    const DAY = 86_400_000;
    const found = { outcome: 'found', message: '' } as const;
    const missing = { outcome: 'missing', message: 'no' } as const;
    const unreached = { outcome: 'unreached', message: 'no' } as const;
    const provedSite = async (domain: string, kind: ProofKind): Promise<string> => {
      const { id } = await createSite(db, {
        tenantId,
        name: 'Shop',
        domain,
        isVerified: false,
        allowedOrigins: [],
        allowedIps: [],
      });
      await verifySite(db, id, { kind, challenges: (await challengeOfSite(db, id)).challenges });
      return id;
    };
    /** One round of looks. A domain without an outcome is found. */
    const roundAt = async (days: number, outcomes: Readonly<Record<string, ProofLook>>, looked: string[] = []) => {
      const warned: (readonly [domain: string, warning: string])[] = [];
      const round = await lookThrough(
        {
          db,
          leasePool: db,
          seals: keyring,
          logger: pino({ level: 'silent' }),
          lookForProof: async (_kind, domain) => {
            looked.push(domain);
            return outcomes[domain] ?? outcomes.others ?? found;
          },
          warn: async (_db, { domain, warning }) => void warned.push([domain, warning]),
          now: () => new Date(Date.now() + days * DAY),
        },
        never,
      );
      return { ...round, warned };
    };

    it('permits that host alone, unlike the DNS, and is kept under the row seal', async () => {
      const bySite = async (siteId: string) => {
        const { coversSubdomains, isProofLapsed } = await directory.refresh(siteId);
        return [coversSubdomains, isProofLapsed];
      };
      const byFile = await provedSite('file.example', 'file');
      expect(await bySite(byFile)).toEqual([false, false]);
      expect(await bySite(await provedSite('dns.example', 'dns'))).toEqual([true, false]);
      expect(await bySite(await newSite())).toEqual([true, false]);
      const caller = await directory.site(byFile);
      const target = (url: string) => findTarget({ db, directory, allowsPorts: false }, caller, url);
      expect((await target('https://file.example/')).site.siteId).toBe(byFile);
      await expect(target('https://www.file.example/')).rejects.toMatchObject({ code: 'SCAN_URL_REFUSED' });
      expect((await target('https://www.dns.example/')).site.domain).toBe('dns.example');
      const { allows } = targetAt(new URL('https://file.example/'), caller);
      expect(['https://file.example/a', 'https://www.file.example/'].map((url) => allows(new URL(url)))).toEqual([
        true,
        false,
      ]);
      await db.query("update sites set proof = 'dns', config_revision = config_revision + 1 where id = $1", [byFile]);
      await expect(directory.refresh(byFile)).rejects.toMatchObject({ code: 'INVALID_API_KEY' });
    });

    it('decides where a configuration may say that visitors withdraw, and a change of the domain ends that', async () => {
      const siteId = await provedSite('withdraw.example', 'file');
      const publish = (withdrawal_url: string) => publishSiteConfig(db, siteId, { ...DEMO_CONFIG, withdrawal_url });
      await expect(publish('https://my.withdraw.example/')).rejects.toThrow(
        /withdrawal_url: must be on withdraw\.example/,
      );
      await publish('https://withdraw.example/choices');
      const urlInForce = async () => (await directory.refresh(siteId)).config?.record.withdrawal_url;
      expect(await urlInForce()).toBe('https://withdraw.example/choices');
      await changeSiteSettings(db, siteId, { domain: 'withdrawn.example' });
      const { challenges } = await challengeOfSite(db, siteId);
      await verifySite(db, siteId, { kind: 'dns', challenges });
      const { config } = await directory.refresh(siteId);
      expect(config?.record).toMatchObject({ domain: 'withdrawn.example', number: 2 });
      expect(config?.record).not.toHaveProperty('withdrawal_url');
      await expect(publish('https://withdraw.example/choices')).rejects.toThrow(/must be on withdrawn\.example/);
      await publish('https://my.withdrawn.example/choices');
    });

    it('is replaced by a proof of another kind, unless that proves less', async () => {
      const siteId = await provedSite('kinds.example', 'file');
      const { challenges } = await challengeOfSite(db, siteId);
      const prove = async (kind: ProofKind) => (await verifySite(db, siteId, { kind, challenges })).proof;
      expect([await prove('meta'), await prove('dns'), await prove('file')]).toEqual(['meta', 'dns', 'dns']);
      expect(await challengeOfSite(db, siteId)).toMatchObject({ proof: 'dns', lookedAt: null, failingSince: null });
      await changeSiteSettings(db, siteId, { domain: 'moved.example' });
      expect(await challengeOfSite(db, siteId)).toMatchObject({ proof: null, verifiedAt: null });
      await expect(verifySite(db, siteId, { kind: 'file', challenges })).rejects.toMatchObject({ code: 'wrong_state' });
    });

    it('is looked at every week, and stops scans and publications after 30 days without it, until it is proved anew', async () => {
      const siteId = await provedSite('weekly.example', 'meta');
      const gone = { 'weekly.example': missing };
      const looked: string[] = [];
      await roundAt(6, gone, looked);
      expect(looked).not.toContain('weekly.example');
      expect((await roundAt(8, gone)).warned).toEqual([['weekly.example', 'failing']]);
      for (let day = 9; day < 31; day += 1) expect((await roundAt(day + 0.1, gone)).warned).toEqual([]);
      expect((await roundAt(31.5, gone)).warned).toEqual([['weekly.example', 'lapses_soon']]);
      for (let day = 33; day < 38; day += 1) await roundAt(day, gone);
      await publishSiteConfig(db, siteId, DEMO_CONFIG);
      expect((await directory.refresh(siteId)).isProofLapsed).toBe(false);
      await roundAt(38.5, gone);
      expect(await directory.refresh(siteId)).toMatchObject({ isVerified: true, isProofLapsed: true });
      const wording = /weekly\.example was not found for 30 days/;
      await expect(publishSiteConfig(db, siteId, DEMO_CONFIG)).rejects.toThrow(wording);
      const target = findTarget(
        { db, directory, allowsPorts: false },
        await directory.site(siteId),
        'https://weekly.example',
      );
      await expect(target).rejects.toMatchObject({ code: 'WRONG_STATE', message: expect.stringMatching(wording) });
      const { challenges } = await challengeOfSite(db, siteId);
      await verifySite(db, siteId, { kind: 'file', challenges });
      expect((await directory.refresh(siteId)).isProofLapsed).toBe(false);
      await publishSiteConfig(db, siteId, DEMO_CONFIG);
    });

    it('is not missing because the network of the service is down', async () => {
      const siteId = await provedSite('down.example', 'file');
      await provedSite('up.example', 'file');
      const state = async () => (await challengeOfSite(db, siteId)).failingSince;
      const down = await roundAt(60, { others: unreached });
      expect(down).toMatchObject({ missing: 0, warned: [] });
      expect(down.notCounted).toBe(down.looks);
      expect(await state()).toBeNull();
      // One domain that answers, even with something else, shows that the network works.
      expect((await roundAt(60, { others: unreached, 'up.example': missing })).warned).toContainEqual([
        'down.example',
        'failing',
      ]);
      expect(await state()).not.toBeNull();
      await roundAt(62, {});
      expect(await state()).toBeNull();
      // A round of one site asks others.
      const looked: string[] = [];
      await provedSite('alone.example', 'file');
      const round = await roundAt(8, { 'alone.example': unreached }, looked);
      expect(looked[0]).toBe('alone.example');
      expect(looked.length).toBeGreaterThan(1);
      expect(round.warned).toEqual([['alone.example', 'failing']]);
    });
  });
});
