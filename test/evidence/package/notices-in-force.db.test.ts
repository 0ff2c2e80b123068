import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { exportEvidence } from '../../../src/evidence/package/index.js';
import { findManifestCertificate } from '../../../src/evidence/package/manifest-files.js';
import { publishSiteConfig } from '../../../src/tenancy/configuration/publish-site-config.js';
import { retireVersion } from '../../../src/tenancy/documents/version-states.js';
import { activeVersion } from '../../pipeline/admission/site-fixture.js';
import { type LedgerWorld, ORIGIN, openLedgerWorld } from './ledger-world.js';
import { problemsOf, verify } from './reading-packages.js';

let world: LedgerWorld;

beforeAll(async () => {
  world = await openLedgerWorld();
});
afterAll(() => world.close());

it('verifies consents before and after a change of text and configuration, in one batch and in several', async () => {
  const { pipeline, keyring, site, folder } = world;
  const { owner } = pipeline;
  await world.record(site, [{ visitorId: 'before' }]);
  const { rows } = await owner.query('select document_id from document_versions where id = $1', [
    site.versions.cookieEn,
  ]);
  const replacement = await activeVersion(owner, site.siteId, String(rows[0]?.document_id), 'en');
  await retireVersion(owner, site.siteId, site.versions.terms);
  await publishSiteConfig(owner, site.siteId, {
    controller: { legal_name: 'Example Ltd', contact: 'privacy@example.com' },
    default_language: 'en',
    languages: ['en'],
    validity_days: 30,
    banner: {},
    withdrawal: { en: 'Any time' },
    categories: ['necessary', 'analytics'].map((key) => ({
      key,
      required: false,
      title: { en: key },
      purpose: { en: key },
      lawful_basis: 'consent' as const,
      personal_data: [],
      recipients: [],
      retention_days: null,
    })),
  });
  const after = { ...site, versions: { ...site.versions, cookieEn: replacement } };
  await world.record(after, [{ visitorId: 'after' }]);
  await world.stamp(1000);
  await world.record(after, [{ visitorId: 'later' }]);
  await world.stamp();
  const options = { db: pipeline.worker, eventLog: pipeline.eventLog, keyring, origin: ORIGIN };
  const request = { siteId: site.siteId, filter: {}, disclose: 'all' as const, exportedBy: 'test' };
  const { path } = await exportEvidence(options, { ...request, output: join(folder, 'in-force.zip') });
  const report = await verify(world, path);
  expect(problemsOf(report)).toEqual([]);
  expect(report.verdict).toBe('valid');
  expect(report.coverage?.consents).toMatchObject({ complete_up_to: 2, ledger_reaches: 2, is_whole: true });
  expect(report.coverage?.notices.is_whole).toBe(true);

  // Recorded although the text had been retired: the verifier must detect a service that accepts
  // this.
  await world.record(site, [{ visitorId: 'too late' }]);
  await world.stamp();
  const wrong = await exportEvidence(options, { ...request, output: join(folder, 'too-late.zip') });
  expect(problemsOf(await verify(world, wrong.path)).join()).toContain('was retired before the consent');
});

it('makes no package unless the ledger key in force at the checkpoint certified the manifest key', async () => {
  const { pipeline, keyring } = world;
  const { publicKeyBytes } = await keyring.manifestKey();
  const client = await pipeline.owner.connect();
  try {
    await client.query('begin');
    const { rows } = await client.query('select key from ledger_keys');
    await client.query(
      `insert into ledger_keys (key, ml_dsa_key, replaces, handover_size, published_at) values ('next', 'next too', $1, 2, now())`,
      [rows[0]?.key],
    );
    const old = await findManifestCertificate(client, publicKeyBytes, 1);
    const missing = findManifestCertificate(client, publicKeyBytes, 2);
    await expect(missing).rejects.toMatchObject({ problem: 'manifest-key-not-certified' });
    await client.query(
      `insert into manifest_certificates (manifest_key, ledger_key, certificate) values ($1, 'next', 'by the next key')`,
      [publicKeyBytes],
    );
    expect(await findManifestCertificate(client, publicKeyBytes, 2)).toBe('by the next key');
    expect(await findManifestCertificate(client, publicKeyBytes, 1)).toBe(old);
    await expect(findManifestCertificate(client, randomBytes(32), 2)).rejects.toThrow();
  } finally {
    await client.query('rollback');
    client.release();
  }
});
