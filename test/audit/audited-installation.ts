import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import * as z from 'zod';
import { parseWitnessKey } from '../../schemas/evidence/cosignature.js';
import { formatVerifierKey } from '../../schemas/evidence/signed-note.js';
import { type OpenAudit, openAudit } from '../../src/app/open-audit.js';
import { type AuditResult, runAudit } from '../../src/audit/audit.js';
import type { Finding } from '../../src/audit/finding.js';
import { createCosigner } from '../../src/pipeline/cosigner/cosigner.js';
import { catchUpLedger } from '../../src/pipeline/ledger/apply-ledger.js';
import { sealBatch } from '../../src/pipeline/sealer/seal.js';
import { recordScan } from '../../src/tenancy/scans/record-scan.js';
import { RecordingTenant } from '../api/panel/recording-tenant.js';
import { type RunningApp, startApp } from '../api/server/running-app.js';
import { commandLine } from '../cli/command-line.js';
import { count, whileRunning } from '../pipeline/relay/pipeline.js';
import { recordManyConsents } from '../support/recorded-consents.js';
import { runWitness } from '../support/running-witness.js';
import { until } from '../support/wait.js';
import { scanResult } from '../tenancy/scans/scan-result.js';

/** An installation that has done everything once, and has stopped. */
export interface AuditedInstallation {
  readonly app: RunningApp;
  /** One whole audit. */
  audit(): Promise<readonly Finding[]>;
  /** The same, with what is only counted. */
  auditWhole(): Promise<AuditResult>;
  remove(): Promise<void>;
}

const Created = z.object({ data: z.object({ id: z.string() }) });
const idOf = (answer: { readonly status: number; readonly body: unknown }): string => {
  if (answer.status >= 300) throw new Error(`answered with ${answer.status}: ${JSON.stringify(answer.body)}`);
  return Created.parse(answer.body).data.id;
};

/** Batches until the first roll-up, which is the leaf 127. */
const ROLL_UP = 128;

/**
 * Runs a service until every table that it fills in normal use has rows: consents with attachments, a
 * withdrawal, approval tokens, documents with versions in every state, also
 * attached to another site, configurations, erasures, exports,
 * users with sign-ins, invitations and password resets, rotated keys, time stamps, cosignatures, a
 * roll-up. Everything is sealed, stamped and projected at the end, except for two consents that wait for the
 * relay.
 */
export async function recordInstallation(): Promise<AuditedInstallation> {
  const folder = await mkdtemp(join(tmpdir(), 'audit-test-'));
  const app = await startApp('serve', { WEBHOOK_NETWORKS: '127.0.0.0/8' });
  const { installation } = app.service;
  const shop = await useEverything(app);
  const line = commandLine(app);
  await line.json('admin', 'sign-in', 'rotate-key');
  await whenSettled(app);
  let state = await catchUpLedger(installation.workerPool, installation.eventLog);
  while (state.size < ROLL_UP + 2)
    ({ state } = await sealBatch(
      installation.workerPool,
      installation.eventLog,
      state,
      { leaves: [], logPosition: null },
      new Date(),
    ));
  await until(async () => (await count(app.superuser, `checkpoints where size > ${ROLL_UP}`)) > 0);
  await cosign(app, folder);
  await whenSettled(app);
  await stopWithWaitingConsent(app, shop);
  const audits: OpenAudit = await openAudit(installation.config, pino({ level: 'silent' }));
  return {
    app,
    audit: async () => (await runAudit(audits.parts)).findings,
    auditWhole: () => runAudit(audits.parts),
    remove: async () => {
      await audits.close();
      await app.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Does everything once that tenants do, in two new tenants. @returns the first of them */
export async function useEverything(app: RunningApp): Promise<RecordingTenant> {
  const shop = await RecordingTenant.of(app);
  const foreign = await RecordingTenant.of(app);
  await recordConsents(shop, foreign);
  await manageCatalogue(app, shop);
  await eraseAndExport(app, shop);
  return shop;
}

async function recordConsents(shop: RecordingTenant, foreign: RecordingTenant): Promise<void> {
  const person = (name: string) => ({
    visitor_id: name,
    signer_name: name,
    signer_email: `${name}@person.example`,
    signer_phone: '+41441234567',
    signer_id_number: `ID-${name}`,
  });
  const signature = {
    signature_image: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    signature_mime_type: 'image/png',
  };
  for (const name of ['ann', 'ben', 'cem', 'dan'])
    await shop.backend.record({ idempotency_key: randomUUID(), ...person(name), ...signature });
  await shop.backend.record({ ...person('ann'), decision: 'withdrawn' });
  await shop.backend.recordInBrowser({ visitor_id: 'eve', categories: { necessary: true } });
  await shop.backend.record({});
  const form = { document_slug: 'explicit-consent', subject: 'ann', ...person('ann') };
  const { visitor_id: _, ...approver } = form;
  const token = await shop.backend.mint(approver);
  await shop.backend.record({
    consent_type: 'document_approval',
    document_version_id: shop.backend.version('consent_form'),
    approval_token: token.approval_token,
  });
  await shop.backend.mint({
    ...approver,
    document_version_id: shop.backend.version('consent_form'),
    custom_document_hash: 'ab'.repeat(32),
  });
  await foreign.record({ visitor_id: 'fay' });
}

async function manageCatalogue(app: RunningApp, shop: RecordingTenant): Promise<void> {
  const kept = await shop.inSite('admin', 'POST', '/api-keys', { name: 'backend', scope: 'read' });
  const key = z.object({ data: z.looseObject({ id: z.uuid() }) }).parse(kept.body).data.id;
  await shop.inSite('admin', 'POST', `/api-keys/${key}/rotate`, {});
  const draft = z
    .object({ data: z.object({ revision: z.int() }) })
    .parse((await shop.inSite('admin', 'GET', '/configuration')).body).data;
  await shop.inSite('admin', 'PATCH', '/configuration', { revision: draft.revision, validity_days: 200 });
  await shop.inSite('admin', 'POST', '/configuration/publish', { revision: draft.revision + 1 });
  await shop.inSite('admin', 'PATCH', '/configuration', { revision: draft.revision + 1, validity_days: 100 });
  await recordScan(
    app.service.installation.apiPool,
    scanResult(shop.backend.demo.site.id),
    shop.backend.demo.site.domain,
  );
  const webhook = { url: 'https://127.0.0.1:9/webhooks', events: ['consent.erased'] };
  idOf(await shop.inSite('admin', 'POST', '/webhooks', webhook));
  const { demo } = shop.backend;
  const [policy] = demo.documents;
  if (policy === undefined) throw new Error('the demonstration has no document');
  const versions = `/documents/${policy.id}/versions`;
  const text = (words: string) => ({
    language: 'en',
    title: words,
    media_type: 'text/plain',
    content: Buffer.from(words).toString('base64'),
  });
  const published = idOf(await shop.inSite('admin', 'POST', versions, text('second')));
  for (const step of ['publish', 'activate']) {
    const answer = await shop.inSite('admin', 'POST', `${versions}/${published}/${step}`, {});
    if (answer.status >= 300) throw new Error(`${step}: ${JSON.stringify(answer.body)}`);
  }
  idOf(await shop.inSite('admin', 'POST', versions, text('a draft')));
  const outlet = idOf(await shop.as('admin', 'POST', '/sites', { name: 'Outlet', domain: 'outlet.example' }));
  for (const method of ['PUT', 'DELETE', 'PUT']) {
    const answer = await shop.inSite('admin', method, `/documents/${policy.id}/attachments/${outlet}`);
    if (answer.status >= 300) throw new Error(`${method}: ${JSON.stringify(answer.body)}`);
  }
  await shop.inSite('owner', 'PUT', '/retention-period', { retention_days: 400 });
  idOf(await shop.as('owner', 'POST', '/invitations', { email: `gus-${randomUUID()}@tenant.example`, role: 'viewer' }));
  idOf(
    await shop.as('owner', 'POST', '/tenants', {
      name: 'A subsidiary',
      owner_email: `owner-${randomUUID()}@tenant.example`,
    }),
  );
  const { rows } = await app.superuser.query(`select id from users where tenant_id = $1 and role = 'viewer'`, [
    demo.tenant_id,
  ]);
  await shop.as('owner', 'POST', `/users/${rows[0]?.id}/password-reset`, {});
  await app.change(
    `with user_of as (update users set passkey_ids = array[$2::uuid] where id = $1 returning id)
     insert into passkeys (id, user_id, credential_id, public_key, rp_id, transports, label, was_verified, sign_count)
       select $2, id, $2::text, 'key', 'consent.example.org', '{usb}', 'Key ring', true, 1 from user_of`,
    [rows[0]?.id, randomUUID()],
  );
  await shop.as('viewer', 'POST', '/auth/logout', {});
}

async function eraseAndExport(app: RunningApp, shop: RecordingTenant): Promise<void> {
  const State = z.looseObject({ state: z.string() });
  for (const subject of [
    { by: 'visitor_id', value: 'ben' },
    { by: 'signer_email', value: 'cem@person.example' },
  ]) {
    const id = idOf(await shop.inSite('dpo', 'POST', '/erasures', { subject, idempotency_key: randomUUID() }));
    await shop.until(State, `/erasures/${id}`, ({ state }) => state === 'finished');
  }
  await whenSettled(app);
  for (const filter of [{}, { visitor_id: 'ann' }]) {
    const id = idOf(
      await shop.inSite('owner', 'POST', '/exports', {
        filter,
        disclose: 'all',
        reason: 'for the test',
        stated: { reason: 'other' },
      }),
    );
    await shop.until(State, `/exports/${id}`, ({ state }) => state === 'finished');
  }
}

/** Waits until nothing is in flight: relayed, projected, announced, sealed and stamped. */
export async function whenSettled({ superuser }: RunningApp): Promise<void> {
  const isSettled = async (): Promise<boolean> =>
    (await count(superuser, 'event_log.waiting')) === 0 &&
    (await count(superuser, 'erased_records where erasure_event_id is null')) === 0 &&
    (await count(
      superuser,
      `event_log.log e where (stream like 'consents-%' or stream like 'notices-%')
         and not exists (select from leaves l join checkpoints c on c.size > l.batch where l.stream = e.stream and l.revision = e.revision)`,
    )) === 0 &&
    (await count(
      superuser,
      `projection_generations where position::numeric < (
         select max(position) from event_log.log where stream like 'consents-%' or stream like 'notices-%')`,
    )) === 0;
  await until(isSettled);
}

/** Stops the service while a consent is not committed yet, which waits for the relay then. */
async function stopWithWaitingConsent(app: RunningApp, { backend, siteId }: RecordingTenant): Promise<void> {
  const sites = {
    tenantId: backend.demo.tenant_id,
    siteIds: [siteId],
    documentVersionId: backend.version('cookie_policy'),
  };
  const client = await app.superuser.connect();
  try {
    await client.query('begin');
    // Two runs, which have an order.
    for (let run = 0; run < 2; run += 1) await recordManyConsents(client, app.service.installation.keyring, sites, 1);
    await app.service.stop();
    await client.query('commit');
  } finally {
    client.release();
  }
}

async function cosign(app: RunningApp, folder: string): Promise<void> {
  const { installation } = app.service;
  const key = await installation.keyring.ledgerKey();
  const vkey = formatVerifierKey(installation.config.ledgerOrigin, key.publicKeyBytes);
  const witness = await runWitness(folder, 'witness.example/audit', [vkey]);
  const keys = witness.vkeys.map(parseWitnessKey).filter((one) => one !== null);
  const cosigner = createCosigner({
    db: installation.workerPool,
    logger: installation.logger,
    witnesses: [{ url: witness.url, name: 'witness.example/audit', keys }],
    pollMs: 20,
  });
  await whileRunning([cosigner], () => until(async () => (await count(app.superuser, 'cosignatures')) > 0));
  await witness.stop();
}
