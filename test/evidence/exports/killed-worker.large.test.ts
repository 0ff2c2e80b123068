import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createUser } from '../../../src/accounts/users/users.js';
import { type Installation, openInstallation } from '../../../src/app/installation.js';
import { createExport, readExport } from '../../../src/evidence/exports/index.js';
import { loadConfig } from '../../../src/platform/config/index.js';
import { createPool } from '../../../src/platform/database/pool.js';
import { holdGate, putGate, waitsAtGate } from '../../support/insert-gate.js';
import { type RunningService, TestInstallation } from '../../support/running-service.js';
import { cookieVersionOf, seedTenant } from '../../support/seeded-demo.js';
import { postSigned } from '../../support/signed-requests.js';

let processes: TestInstallation;
let api: RunningService;
let worker: RunningService;
let installation: Installation;
beforeAll(async () => {
  processes = await TestInstallation.make();
  worker = await processes.start('worker');
  api = await processes.start('api');
  const config = loadConfig(processes.env);
  installation = await openInstallation(config, pino({ level: 'silent' }), { role: 'test', migrates: false });
});
afterAll(async () => {
  await installation?.close();
  await worker?.stop();
  await api?.stop();
  await processes?.remove();
});

it('runs an export again whose worker was killed, and keeps nothing of the first run', async () => {
  const { adminPool, apiPool, keyring, databaseUrl } = installation;
  const seed = await seedTenant(processes);
  const siteId = seed.site.id;
  const recorded = await postSigned(api.url, seed.keys.write, '/tool/v1/consents', {
    consent_type: 'cookie',
    decision: 'accepted',
    document_version_id: cookieVersionOf(seed),
    idempotency_key: 'the-only-consent',
    visitor_id: 'alice',
  });
  expect(recorded.status).toBe(202);
  const user = await createUser(adminPool, {
    tenantId: seed.tenant_id,
    email: 'dpo@tenant.example',
    password: 'a password that is long enough',
    role: 'dpo',
  });
  const author = { tenantId: seed.tenant_id, siteId, userId: user.id, role: 'dpo', channel: 'panel' } as const;
  const superuser = createPool({
    url: databaseUrl,
    applicationName: 'test superuser',
    maxConnections: 2,
    statementTimeoutMs: 0,
    onIdleError: () => undefined,
  });
  const id = { siteId, exportId: '' };
  const state = async () => (await readExport(apiPool, keyring, id)).state;
  const becomes = async (wanted: string) => {
    while ((await state()) !== wanted) await sleep(100);
  };
  try {
    await putGate(superuser, 'export_chunks');
    // The process waits to store a chunk: the run is in progress when its process is killed.
    await holdGate(superuser, async () => {
      const body = { filter: { visitor_id: 'alice' }, disclose: 'all' } as const;
      id.exportId = (await createExport(adminPool, { keyring, maxPerTenant: 5 }, author, body)).id;
      await becomes('running');
      await waitsAtGate(superuser);
      await worker.kill();
    });
    expect(await state()).toBe('running');
    // A longer run would leave such a chunk, which must not be part of the next package.
    await superuser.query(`insert into export_chunks values ($1, 7, '\\x00') on conflict do nothing`, [id.exportId]);

    worker = await processes.start('worker');
    await becomes('finished');
    const { rows } = await superuser.query('select attempts, chunks from export_jobs where export_id = $1', [
      id.exportId,
    ]);
    expect(rows).toEqual([{ attempts: 2, chunks: 1 }]);
    const pieces = await superuser.query('select index from export_chunks where export_id = $1', [id.exportId]);
    expect(pieces.rows).toEqual([{ index: 0 }]);
    const left = await superuser.query(`select from exports where site_id = $1 and state = 'running'`, [siteId]);
    expect(left.rowCount).toBe(0);

    // The command exports the same records, and has an audit entry, too.
    const output = join(processes.dataDir, 'package.zip');
    const filter = ['--visitor', 'alice', '--from', '2026-01-01T00:00:00Z'];
    await processes.json('evidence', 'export', '--site', siteId, '--output', output, ...filter);
    const log = await superuser.query(
      `select actor_kind, subject_id, details from audit_log where tenant_id = $1 and action = 'export.create'`,
      [seed.tenant_id],
    );
    const details = { filter: ['from', 'visitor_id'], disclose: ['visitor_id'] };
    expect(log.rows).toEqual([{ actor_kind: 'operator', subject_id: siteId, details }]);
  } finally {
    await superuser.end();
  }
});
