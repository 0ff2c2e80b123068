import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { expect } from 'vitest';
import * as z from 'zod';
import { recordScan } from '../../../src/tenancy/scans/record-scan.js';
import type { ExportWorld } from '../../evidence/exports/export-world.js';
import { scanResult } from '../../tenancy/scans/scan-result.js';

/** The ids of everything that the other tenant has, by the name that paths give them. */
export type Foreign = Readonly<Record<string, string>>;

const Id = z.object({ id: z.string() });
const Made = z.object({ data: Id });
const Digest = z.object({ name: z.string(), digest: z.string().nullable() });

/** Gives the other tenant one of everything, through its own panel where that can be. */
export async function furnish({ panel, demo, siteId, user, record, create, reaches }: ExportWorld): Promise<Foreign> {
  const owner = user('owner');
  const site = `/sites/${siteId}`;
  const made = async (path: string, body: object): Promise<string> => {
    const answer = await panel.as(owner, 'POST', path, body);
    expect(answer.status, `${path} ${JSON.stringify(answer.body)}`).toBeLessThan(300);
    return Made.parse(answer.body).data.id;
  };
  const { apiPool } = panel.app.service.installation;
  await recordScan(apiPool, scanResult(siteId), demo.site.domain);
  const [consent = ''] = await record(['visitor-of-the-other']);
  const evidenceExport = await create({});
  await reaches(evidenceExport.id, 'finished');
  const category = { key: 'isolated', required: false, title: {}, purpose: {}, lawful_basis: 'consent' };
  await panel.as(owner, 'POST', `${site}/categories`, {
    ...category,
    personal_data: [],
    recipients: [],
    retention_days: null,
  });
  const cookie = {
    name: 'c',
    provider: 'p',
    category: 'isolated',
    party: 'first',
    duration_seconds: null,
    purpose: {},
  };
  const erasureId = await made(`${site}/erasures`, { subject: { by: 'visitor_id', value: 'nobody' } });
  const isFinished = async (): Promise<boolean> =>
    JSON.stringify((await panel.as(owner, 'GET', `${site}/erasures/${erasureId}`)).body).includes('"finished"');
  while (!(await isFinished())) await sleep(300);
  const documentId = await made(`${site}/documents`, { slug: 'only-of-the-other', kind: 'terms' });
  const text = { language: 'en', title: 'Terms', media_type: 'text/plain', content: 'words of the other tenant' };
  const versionId = await made(`${site}/documents/${documentId}/versions`, text);
  for (const step of ['publish', 'activate']) {
    const answer = await panel.as(owner, 'POST', `${site}/documents/${documentId}/versions/${versionId}/${step}`);
    expect(answer, step).toMatchObject({ status: 200 });
  }
  const attachedSiteId = await made('/sites', { name: 'Outlet', domain: 'outlet-of-the-other.example' });
  const attached = await panel.as(owner, 'PUT', `${site}/documents/${documentId}/attachments/${attachedSiteId}`);
  expect(attached).toMatchObject({ status: 200 });
  const reset = await panel.as(owner, 'POST', `/users/${user('viewer').id}/password-reset`);
  expect(reset).toMatchObject({ status: 201 });
  const webhookId = await made(`${site}/webhooks`, { url: 'https://127.0.0.1:9/hook', events: ['consent.erased'] });
  const deliveryId = await made(`${site}/webhooks/${webhookId}/test`, {});
  const signIns = await panel.app.superuser.query('select id from sign_ins where user_id = $1', [owner.id]);
  return {
    tenant_id: demo.tenant_id,
    site_id: siteId,
    key_id: await made(`${site}/api-keys`, { scope: 'read' }),
    webhook_id: webhookId,
    delivery_id: deliveryId,
    document_id: documentId,
    version_id: versionId,
    attached_site_id: attachedSiteId,
    slug: 'only-of-the-other',
    category_key: 'isolated',
    cookie_id: await made(`${site}/cookies`, cookie),
    language: 'en',
    number: '1',
    consent_id: consent,
    consent_token: `ct_${consent.replaceAll('-', '')}`,
    erasure_id: erasureId,
    export_id: evidenceExport.id,
    user_id: user('viewer').id,
    invitation_id: await made('/invitations', { email: 'invited@other.example', role: 'viewer' }),
    sign_in_id: z.array(Id).parse(signIns.rows)[0]?.id ?? '',
  };
}

/** Everything of the other tenant that a change could have touched, as text. */
export async function possessionsOf({ tenant_id, site_id }: Foreign, superuser: pg.Pool): Promise<string> {
  const tables = {
    tenants: 'id = $1',
    subscriptions: 'tenant_id = $1',
    users: 'tenant_id = $1',
    invitations: 'tenant_id = $1',
    sites: 'tenant_id = $1',
    api_keys: 'site_id = $2',
    webhooks: 'site_id = $2',
    documents: 'site_id = $2',
    document_attachments: 'document_id in (select id from documents where site_id = $2)',
    document_versions: 'site_id = $2',
    site_configs: 'site_id = $2',
    site_scans: 'site_id = $2',
    site_config_drafts: 'site_id = $2',
    record_keys: 'site_id = $2',
    erasure_requests: 'site_id = $2',
    exports: 'site_id = $2',
    export_jobs: 'site_id = $2',
    sign_ins: 'user_id in (select id from users where tenant_id = $1)',
    password_resets: 'user_id in (select id from users where tenant_id = $1)',
    audit_log: 'tenant_id = $1',
  };
  const digests = Object.entries(tables).map(
    ([table, condition]) =>
      `select '${table}' as name, md5(string_agg(row, ',' order by row)) as digest
         from (select (to_jsonb(t) - 'last_used_at')::text as row from ${table} t where ${condition}) r`,
  );
  // One statement, as this is asked for each operation.
  const { rows } = await superuser.query({
    name: 'possessions of a tenant',
    text: digests.join(' union all '),
    values: [tenant_id, site_id],
  });
  for (const { name, digest } of z.array(Digest).parse(rows))
    expect(digest, `the other tenant has no ${name}: give it one`).not.toBeNull();
  return JSON.stringify(rows);
}
