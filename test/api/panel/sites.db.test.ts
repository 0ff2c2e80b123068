import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { DomainVerification, Site } from '../../../schemas/api/panel/sites.js';
import { publishSiteConfig } from '../../../src/tenancy/configuration/publish-site-config.js';
import { lookThrough } from '../../../src/tenancy/domains/proof-part.js';
import { challengeOfSite, verifySite } from '../../../src/tenancy/domains/verify-site.js';
import { startDnsServer, type TestDnsServer } from '../../support/dns-server.js';
import { ask } from '../server/running-app.js';
import { type PanelApp, startPanel } from './panel-fixture.js';

let panel: PanelApp;
let dns: TestDnsServer;
beforeAll(async () => {
  dns = await startDnsServer();
  panel = await startPanel('api', { DNS_SERVERS: dns.address });
});
afterAll(async () => {
  await panel.stop();
  await dns.close();
});

const SiteAnswer = z.object({ data: Site });
const SiteList = z.object({ data: z.array(Site), next_cursor: z.string().nullable() });
const VerificationAnswer = z.object({ data: DomainVerification });

const makeSite = async (members: object = {}): Promise<Site> => {
  const answer = await panel.as(panel.own.users.admin, 'POST', '/sites', {
    name: 'Shop',
    domain: 'Shop.Example',
    ...members,
  });
  expect(answer.status).toBe(201);
  return SiteAnswer.parse(answer.body).data;
};

describe('sites', () => {
  it('are made unverified and without a configuration', async () => {
    const site = await makeSite({
      allowed_origins: ['https://shop.example'],
      allowed_ips: ['192.0.2.0/24', '2001:db8::/32'],
    });
    expect(site).toMatchObject({
      domain: 'shop.example',
      verified_at: null,
      allowed_origins: ['https://shop.example'],
      allowed_ips: ['192.0.2.0/24', '2001:db8::/32'],
      retention_days: null,
      configuration: null,
    });
    const read = await panel.as(panel.own.users.viewer, 'GET', `/sites/${site.id}`);
    expect(read).toMatchObject({ status: 200, body: { data: site } });
  });

  it('are listed page by page, each once, and only to their tenant', async () => {
    const own = await panel.makeTenant();
    for (const name of ['a', 'b', 'c']) {
      await panel.as(own.users.owner, 'POST', '/sites', { name, domain: 'x.example' });
    }
    const seen: string[] = [];
    let cursor = '';
    do {
      const { body } = await panel.as(own.users.viewer, 'GET', `/sites?limit=2${cursor}`);
      const page = SiteList.parse(body);
      seen.push(...page.data.map(({ name }) => name));
      cursor = page.next_cursor === null ? '' : `&cursor=${page.next_cursor}`;
    } while (cursor !== '');
    expect(seen).toEqual(['Shop', 'a', 'b', 'c']);
  });

  it.each([
    { domain: 'not a domain' },
    { domain: 'https://shop.example' },
    { domain: 'localhost' },
    { domain: 'localhost.' },
    { domain: 'shop.localhost' },
    { domain: 'shop' },
    { domain: '.' },
    { domain: 'shop.example..' },
    { domain: '192.0.2.1' },
    { domain: '127.1' },
    { domain: '2130706433' },
    { domain: '0x7f000001' },
    { domain: '0x7f.0x1' },
    { domain: '[::1]' },
    { domain: `${'a.'.repeat(115)}examples` },
    { name: 'Sh\u202eop' },
    { name: 'Sh\u2066op' },
    { name: 'Sh\nop' },
    { name: 'Sh\u0007op' },
    { name: '' },
    { allowed_origins: ['shop.example'] },
    { allowed_origins: ['https://shop.example/'] },
    { allowed_origins: ['javascript:alert(1)'] },
    { allowed_ips: ['192.0.2.1/24'] },
    { allowed_ips: ['2001:db8::1/32'] },
    { allowed_ips: ['::ffff:192.0.2.1/120'] },
    { allowed_ips: ['192.0.2.0/24', '::ffff:127.0.0.1'] },
    { allowed_ips: ['::ffff:1.2.3.0/120'] },
    { allowed_ips: ['::ffff:0:0/96'] },
    { allowed_ips: ['0:0:0:0:0:FFFF:7f00:1'] },
    { allowed_ips: ['300.0.0.1'] },
    { retention_days: 1 },
    { verified_at: '2026-01-01T00:00:00Z' },
  ])('refuse %j', async (members) => {
    const answer = await panel.as(panel.own.users.owner, 'PATCH', `/sites/${panel.own.siteId}`, members);
    expect(answer).toMatchObject({ status: 422, body: { code: 'VALIDATION_ERROR' } });
  });

  it('have domains whose TXT record has a valid DNS name', async () => {
    const longest = `${'a.'.repeat(115)}example`;
    expect(longest).toHaveLength(237);
    expect((await makeSite({ domain: `${longest}.` })).domain).toBe(longest);
    expect((await makeSite({ domain: 'xn--e1afmkfd.1shop.example0' })).domain).toBe('xn--e1afmkfd.1shop.example0');
  });

  it('change only the named members, which the audit log lists', async () => {
    const site = await makeSite();
    const path = `/sites/${site.id}`;
    const changed = await panel.as(panel.own.users.owner, 'PATCH', path, {
      name: 'New',
      domain: 'New.Example.',
      allowed_ips: [],
    });
    expect(changed).toMatchObject({ status: 200, body: { data: { ...site, name: 'New', domain: 'new.example' } } });
    const log = await panel.as(panel.own.users.owner, 'GET', `/audit-log?subject_id=${site.id}&action=site.change`);
    expect(log.body).toMatchObject({
      data: [
        {
          details: {
            changed: ['name', 'domain'],
            name: { before: site.name, after: 'New' },
            domain: { before: 'shop.example', after: 'new.example' },
          },
        },
      ],
    });
  });
});

describe('the retention period', () => {
  it('is changed only by roles that may erase', async () => {
    const site = await makeSite({ retention_days: 90 });
    const path = `/sites/${site.id}/retention-period`;
    for (const role of ['admin', 'viewer'] as const) {
      expect(await panel.as(panel.own.users[role], 'PUT', path, { retention_days: 1 })).toMatchObject({
        status: 403,
        body: { code: 'INSUFFICIENT_ROLE' },
      });
    }
    for (const body of [{}, { retention_days: 0 }, { retention_days: 1.5 }, { retention_days: 1, name: 'x' }]) {
      expect(await panel.as(panel.own.users.dpo, 'PUT', path, body)).toMatchObject({ status: 422 });
    }
    expect((await panel.as(panel.own.users.viewer, 'GET', `/sites/${site.id}`)).body).toMatchObject({
      data: { retention_days: 90 },
    });
    const changed = await panel.as(panel.own.users.dpo, 'PUT', path, { retention_days: 30 });
    expect(changed).toMatchObject({ status: 200, body: { data: { id: site.id, retention_days: 30 } } });
    const ended = await panel.as(panel.own.users.owner, 'PUT', path, { retention_days: null });
    expect(ended).toMatchObject({ status: 200, body: { data: { retention_days: null } } });
    const log = await panel.as(panel.own.users.owner, 'GET', `/audit-log?subject_id=${site.id}`);
    expect(log.body).toMatchObject({
      data: [
        { action: 'site.change_retention_period', details: { retention_days: { before: 30, after: null } } },
        { action: 'site.change_retention_period', details: { retention_days: { before: 90, after: 30 } } },
        { action: 'site.create', details: { retention_days: 90 } },
      ],
    });
  });
});

describe('the verification of a domain', () => {
  let site: Site;
  let challenge: z.infer<typeof DomainVerification>['dns_record'];
  const path = () => `/sites/${site.id}/domain-verification`;
  const verify = () => panel.as(panel.own.users.admin, 'POST', path());
  beforeEach(async () => {
    dns.records.clear();
    dns.isSilent = false;
    site = await makeSite();
    const { body } = await panel.as(panel.own.users.viewer, 'GET', path());
    challenge = VerificationAnswer.parse(body).data.dns_record;
  });

  it('requires a TXT record in its DNS', async () => {
    expect(challenge).toMatchObject({ name: '_consent-ledger.shop.example', type: 'TXT' });
    expect(await verify()).toMatchObject({ status: 409, body: { code: 'DOMAIN_NOT_VERIFIED' } });
    dns.records.set(challenge.name, [['something else'], [`${challenge.value}x`]]);
    expect(await verify()).toMatchObject({ status: 409, body: { code: 'DOMAIN_NOT_VERIFIED' } });
    // Long texts come in several strings.
    dns.records.set(challenge.name, [['something else'], [challenge.value.slice(0, 9), challenge.value.slice(9)]]);
    const verified = await verify();
    expect(verified.status).toBe(200);
    expect(VerificationAnswer.parse(verified.body).data.verified_at).not.toBeNull();
  });

  it('opens the Tool API, and a change of the domain closes it', async () => {
    const made = await panel.as(panel.own.users.admin, 'POST', `/sites/${site.id}/api-keys`, { scope: 'read' });
    const { key } = z.object({ data: z.object({ key: z.string() }) }).parse(made.body).data;
    const ping = () => ask(`${panel.app.url}/tool/v1/ping`, { headers: { 'x-api-key': key } });
    expect(await ping()).toMatchObject({ status: 403, body: { code: 'SITE_NOT_VERIFIED' } });
    dns.records.set(challenge.name, [[challenge.value]]);
    await verify();
    await expect.poll(async () => (await ping()).status).toBe(200);
    await panel.as(panel.own.users.admin, 'PATCH', `/sites/${site.id}`, { domain: 'other.example' });
    await expect.poll(async () => (await ping()).status).toBe(403);
    const { body } = await panel.as(panel.own.users.viewer, 'GET', path());
    const next = VerificationAnswer.parse(body).data;
    expect(next).toMatchObject({ verified_at: null, dns_record: { name: '_consent-ledger.other.example' } });
    // The proof of the old domain proves nothing of the new one.
    expect(next.dns_record.value).not.toBe(challenge.value);
    dns.records.set(next.dns_record.name, [[challenge.value]]);
    expect(await verify()).toMatchObject({ status: 409, body: { code: 'DOMAIN_NOT_VERIFIED' } });
  });

  it('publishes the configuration again when it names another domain', async () => {
    dns.records.set(challenge.name, [[challenge.value]]);
    expect((await verify()).status).toBe(200);
    await publishSiteConfig(panel.app.service.installation.adminPool, site.id, {
      controller: { legal_name: 'Shop Ltd', contact: 'privacy@shop.example' },
      default_language: 'en',
      languages: ['en'],
      validity_days: null,
      banner: {},
      withdrawal: { en: 'Write to us.' },
      categories: [],
    });
    await panel.as(panel.own.users.admin, 'PATCH', `/sites/${site.id}`, { domain: 'other.example' });
    const { body } = await panel.as(panel.own.users.viewer, 'GET', path());
    const { dns_record: record } = VerificationAnswer.parse(body).data;
    dns.records.set(record.name, [[record.value]]);
    expect((await verify()).status).toBe(200);
    const read = await panel.as(panel.own.users.viewer, 'GET', `/sites/${site.id}`);
    expect(read.body).toMatchObject({
      data: {
        domain: 'other.example',
        configuration: { number: 2, domain: 'other.example', controller_legal_name: 'Shop Ltd' },
      },
    });
    expect((await verify()).status).toBe(200);
    expect((await panel.as(panel.own.users.viewer, 'GET', `/sites/${site.id}`)).body).toMatchObject({
      data: { configuration: { number: 2 } },
    });
  });

  it('shows the record, the file and the tag, all with the token of the site', async () => {
    const { body } = await panel.as(panel.own.users.viewer, 'GET', path());
    const token = challenge.value.slice('consent-ledger-verification='.length);
    expect(token).toMatch(/^[0-9a-f]{32}$/);
    expect(VerificationAnswer.parse(body).data).toEqual({
      domain: 'shop.example',
      verified_at: null,
      proof: null,
      proof_failing_since: null,
      dns_record: challenge,
      file: { url: 'https://shop.example/.well-known/consent-ledger.txt', content: challenge.value },
      meta_tag: `<meta name="consent-ledger-verification" content="${token}">`,
    });
  });

  it('by a file or a tag says what was not found, and never proves a public suffix', async () => {
    const by = (kind: string, id = site.id) =>
      panel.as(panel.own.users.admin, 'POST', `/sites/${id}/domain-verification`, { by: kind });
    for (const kind of ['file', 'meta']) {
      expect(await by(kind)).toMatchObject({
        status: 409,
        body: {
          code: 'DOMAIN_NOT_VERIFIED',
          message: expect.stringMatching(/shop\.example.*but the host has no public/),
        },
      });
    }
    expect(await by('email')).toMatchObject({ status: 422, body: { code: 'VALIDATION_ERROR' } });
    const suffix = await makeSite({ domain: 'github.io' });
    expect(await by('file', suffix.id)).toMatchObject({
      status: 422,
      body: {
        code: 'VALIDATION_ERROR',
        errors: [{ field: 'by', message: expect.stringMatching(/github\.io is a public suffix/) }],
      },
    });
    expect(await by('dns', suffix.id)).toMatchObject({ status: 409, body: { code: 'DOMAIN_NOT_VERIFIED' } });
  });

  it('states its kind in the answers and in the audit log', async () => {
    dns.records.set(challenge.name, [[challenge.value]]);
    const verified = await panel.as(panel.own.users.admin, 'POST', path(), {});
    expect(verified).toMatchObject({ status: 200, body: { data: { proof: 'dns' } } });
    const read = await panel.as(panel.own.users.viewer, 'GET', `/sites/${site.id}`);
    expect(read.body).toMatchObject({ data: { proof: 'dns', proof_failing_since: null } });
    const log = await panel.as(panel.own.users.owner, 'GET', `/audit-log?subject_id=${site.id}&action=site.verify`);
    expect(log.body).toMatchObject({ data: [{ details: { domain: 'shop.example', found: 'dns', proof: 'dns' } }] });
  });

  it('by a page is an alarm of the tenant while it is not found', async () => {
    const { installation } = panel.app.service;
    const { challenges } = await challengeOfSite(installation.adminPool, site.id);
    await verifySite(installation.adminPool, site.id, { kind: 'file', challenges });
    const alarms = () => panel.as(panel.own.users.viewer, 'GET', '/alarms');
    expect((await alarms()).body).toEqual({ data: [] });
    await lookThrough(
      {
        db: installation.adminPool,
        leasePool: installation.adminPool,
        seals: installation.keyring,
        logger: installation.logger,
        lookForProof: async () => ({ outcome: 'missing', message: '' }),
        warn: async () => undefined,
        now: () => new Date(Date.now() + 8 * 86_400_000),
      },
      new AbortController().signal,
    );
    expect((await alarms()).body).toMatchObject({ data: [{ kind: 'domain_proof_failing', site_id: site.id }] });
    await verifySite(installation.adminPool, site.id, { kind: 'meta', challenges });
    expect((await alarms()).body).toEqual({ data: [] });
  });

  it('says so when the DNS does not answer', async () => {
    dns.isSilent = true;
    expect(await verify()).toMatchObject({ status: 503, body: { code: 'DNS_UNAVAILABLE' } });
  });
});
