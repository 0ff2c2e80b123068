import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { SealedTable } from '../../../src/platform/database/sealed-tables.js';
import { createSite } from '../../../src/tenancy/sites/sites.js';
import { postSigned } from '../../support/signed-requests.js';
import { RecordingTenant } from '../panel/recording-tenant.js';
import { ask, type RunningApp, startApp } from './running-app.js';

const Answer = z.looseObject({ code: z.string() });

/** Rows that an attacker who can only write to the database would change. */
describe('rows of plans, documents, tokens, erasures and exports', () => {
  let app: RunningApp;
  let shop: RecordingTenant;
  beforeAll(async () => {
    app = await startApp('serve');
    shop = await RecordingTenant.of(app);
    await shop.record({ visitor_id: 'ann' });
  });
  afterAll(() => app.stop());

  const reported = async (table: SealedTable): Promise<number> => {
    const metrics = await app.service.installation.metrics.text();
    return Number(
      new RegExp(`^consent_ledger_altered_rows_total\\{table="${table}"\\} (\\d+)$`, 'm').exec(metrics)?.[1],
    );
  };
  const send = async (fields: object = {}): Promise<string> => {
    const consent = {
      consent_type: 'cookie',
      decision: 'accepted',
      document_version_id: shop.backend.version('cookie_policy'),
      ...fields,
    };
    const answer = await postSigned(app.url, shop.backend.demo.keys.write, '/tool/v1/consents', consent);
    const text = await answer.text();
    return answer.status === 202 ? 'accepted' : Answer.parse(JSON.parse(text)).code;
  };
  /** Runs SQL past every trigger, and makes processes load the site again. */
  const alter = async (sql: string): Promise<void> => {
    await app.superuser.query(`begin; set local session_replication_role = replica; ${sql};
      update sites set config_revision = config_revision + 1 where id = '${shop.siteId}'; commit`);
  };
  const policy = (): string => {
    const found = shop.backend.demo.documents.find(({ kind }) => kind === 'cookie_policy');
    if (found === undefined) throw new Error('the demonstration has no cookie policy');
    return found.id;
  };

  /** Another site of the tenant, and whether it shows its visitors the active policy. */
  const otherSite = async (domain: string) => {
    const { id: outlet } = await createSite(app.service.installation.adminPool, {
      tenantId: shop.backend.demo.tenant_id,
      name: 'Outlet',
      domain,
      isVerified: true,
      allowedOrigins: [],
      allowedIps: [],
    });
    const key = await shop.as('owner', 'POST', `/sites/${outlet}/api-keys`, { name: 'page', scope: 'read' });
    const { data } = z.object({ data: z.looseObject({ key: z.string() }) }).parse(key.body);
    const isShown = async () => {
      const answer = await ask(`${app.url}/tool/v1/documents/cookie-policy/active`, {
        headers: { 'x-api-key': data.key },
      });
      return answer.status === 200;
    };
    return { outlet, isShown };
  };

  it('give no quota and no rate that the service did not set', async () => {
    const tenant = shop.backend.demo.tenant_id;
    expect(await send()).toBe('accepted');
    await alter(
      `update subscriptions set consent_quota = coalesce(consent_quota, 0) + 1000000 where tenant_id = '${tenant}'`,
    );
    await expect.poll(() => send()).not.toBe('accepted');
    expect(await reported('subscriptions')).toBeGreaterThan(0);
    await alter(`update subscriptions set consent_quota = consent_quota - 1000000 where tenant_id = '${tenant}'`);
    await expect.poll(() => send()).toBe('accepted');
  });

  it('do not waive the approval token of a document', async () => {
    await alter(`update documents set requires_approval_token = not requires_approval_token where id = '${policy()}'`);
    await expect.poll(() => send()).not.toBe('accepted');
    expect(await reported('documents')).toBeGreaterThan(0);
    await alter(`update documents set requires_approval_token = not requires_approval_token where id = '${policy()}'`);
    await expect.poll(() => send()).toBe('accepted');
  });

  it('do not show another title or text as the active version', async () => {
    const version = shop.backend.version('cookie_policy');
    await alter(`update document_versions set title = title || '!' where id = '${version}'`);
    await expect.poll(() => send()).not.toBe('accepted');
    expect(await reported('document_versions')).toBeGreaterThan(0);
    await alter(`update document_versions set title = left(title, -1) where id = '${version}'`);
    await expect.poll(() => send()).toBe('accepted');
  });

  it('attach no document to another site', async () => {
    const { outlet, isShown } = await otherSite('outlet.example');
    const attachment = `/documents/${policy()}/attachments/${outlet}`;
    expect(await shop.inSite('owner', 'PUT', attachment)).toMatchObject({ status: 200 });
    await expect.poll(isShown).toBe(true);
    const move = (sign: string) =>
      alter(`update document_attachments set attached_at = attached_at ${sign} interval '1 day';
        update sites set config_revision = config_revision + 1 where id = '${outlet}'`);
    await move('-');
    await expect.poll(isShown).toBe(false);
    expect(await reported('document_attachments')).toBeGreaterThan(0);
    await move('+');
    await expect.poll(isShown).toBe(true);
    expect(await shop.inSite('owner', 'DELETE', attachment)).toMatchObject({ status: 200 });
    await expect.poll(isShown).toBe(false);
    await alter(`update document_attachments set detached_at = null;
      update document_versions set state = 'active', retired_at = null where site_id = '${outlet}' and document_id = '${policy()}';
      update sites set config_revision = config_revision + 1 where id = '${outlet}'`);
    // Longer than a process keeps a site.
    await sleep(1_500);
    expect(await isShown()).toBe(false);
  });

  it('put no text into force at another site when their document is attached to it', async () => {
    const { outlet, isShown } = await otherSite('branch.example');
    const attachment = `/documents/${policy()}/attachments/${outlet}`;
    const texts = `document_id = '${policy()}' and site_id = '${shop.siteId}'`;
    await alter(`update document_versions set title = title || '!' where ${texts}`);
    const notices = async () =>
      (await app.superuser.query('select from event_log.stored_events where stream = $1', [`notices-${outlet}`]))
        .rowCount;
    const before = await notices();
    expect(await shop.inSite('owner', 'PUT', attachment)).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining('was altered in the database') },
    });
    // The log of the other site keeps nothing of it.
    expect(await notices()).toBe(before);
    await alter(`update document_versions set title = left(title, -1) where ${texts}`);
    await expect.poll(() => send()).toBe('accepted');
    expect(await isShown()).toBe(false);
    expect(await shop.inSite('owner', 'PUT', attachment)).toMatchObject({ status: 200 });
    await expect.poll(isShown).toBe(true);
    // A copy with another text is not shown, even under a seal of the service.
    const copies = `document_id = '${policy()}' and site_id = '${outlet}' and state = 'active'`;
    await app.superuser.query('alter table document_versions disable trigger published_versions_stay');
    await app.change(`update document_versions set title = title || '!' where ${copies}`, []);
    await app.superuser.query('alter table document_versions enable trigger published_versions_stay');
    await alter(`update sites set config_revision = config_revision + 1 where id = '${outlet}'`);
    await expect.poll(isShown).toBe(false);
  });

  it('publish and activate no text that the service did not write', async () => {
    const drafted = await shop.inSite('owner', 'POST', `/documents/${policy()}/versions`, {
      language: 'tr',
      title: 'Taslak',
      media_type: 'text/plain',
      content: 'Bir metin.',
    });
    const { id } = z.object({ data: z.looseObject({ id: z.string() }) }).parse(drafted.body).data;
    const change = (name: string) => shop.inSite('owner', 'POST', `/documents/${policy()}/versions/${id}/${name}`);
    const state = async () =>
      (await app.superuser.query('select state from document_versions where id = $1', [id])).rows[0]?.state;
    for (const [name, from, to] of [
      ['publish', 'draft', 'published'],
      ['activate', 'published', 'active'],
    ] as const) {
      await alter(`update document_versions set title = title || '!' where id = '${id}'`);
      expect(await change(name)).toMatchObject({ status: 409 });
      expect(await state()).toBe(from);
      await alter(`update document_versions set title = left(title, -1) where id = '${id}'`);
      await alter(`update documents set slug = slug || 'x' where id = '${policy()}'`);
      expect(await change(name)).toMatchObject({ status: 409 });
      expect(await state()).toBe(from);
      await alter(`update documents set slug = left(slug, -1) where id = '${policy()}'`);
      expect(await change(name)).toMatchObject({ status: 200 });
      expect(await state()).toBe(to);
    }
  });

  it('make no approval token valid for longer', async () => {
    const token = await shop.backend.mint({ document_slug: 'explicit-consent', subject: 'ann', expires_in: 600 });
    const approve = () =>
      send({
        consent_type: 'document_approval',
        document_version_id: shop.backend.version('consent_form'),
        approval_token: token.approval_token,
      });
    const move = (sign: string) =>
      alter(
        `update approval_tokens set expires_at = expires_at ${sign} interval '1 year' where id = '${token.approval_token_id}'`,
      );
    await move('+');
    expect(await approve()).not.toBe('accepted');
    expect(await reported('approval_tokens')).toBeGreaterThan(0);
    await move('-');
    expect(await approve()).toBe('accepted');
  });

  it('have nothing erased that was not requested', async () => {
    const { id: event } = await shop.record({ visitor_id: 'ben' });
    const request = randomUUID();
    await alter(
      `insert into erasure_requests (id, site_id, reason, event_id) values ('${request}', '${shop.siteId}', 'record', '${event}')`,
    );
    await expect.poll(() => reported('erasure_requests')).toBeGreaterThan(0);
    const keys = async () =>
      (await app.superuser.query('select from record_keys where event_id = $1', [event])).rowCount;
    expect(await keys()).toBe(1);
    // The same row erases the record once the service has written it.
    await app.superuser.query('delete from erasure_requests where id = $1', [request]);
    await app.change(
      `insert into erasure_requests (id, site_id, reason, event_id) values ($1, '${shop.siteId}', 'record', '${event}')`,
      [request],
    );
    await expect.poll(keys).toBe(0);
  });

  it('have no package made that was not requested', async () => {
    const id = randomUUID();
    const tenant = shop.backend.demo.tenant_id;
    await alter(`insert into exports (id, site_id, state, requested_by, seed) values ('${id}', '${shop.siteId}', 'queued', 'x', decode(repeat('00', 16), 'hex'));
      insert into export_jobs (export_id, tenant_id, site_id, requested_by, channel, filter, by_visitor, disclose)
      values ('${id}', '${tenant}', '${shop.siteId}', gen_random_uuid(), 'panel', '{}', false, '"all"')`);
    const state = async () =>
      (await app.superuser.query('select state from exports where id = $1', [id])).rows[0]?.state;
    await expect.poll(state).toBe('failed');
    expect(await reported('export_jobs')).toBeGreaterThan(0);
    expect((await app.superuser.query('select from export_chunks where export_id = $1', [id])).rowCount).toBe(0);
  });
});
