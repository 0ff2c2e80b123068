import { createHash, randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decodeDisclosure } from '../../../schemas/evidence/disclosure.js';
import { sweepExports } from '../../../src/evidence/exports/claim.js';
import { type ExportWorld, startExportWorld } from '../../evidence/exports/export-world.js';
import { entriesOf, manifestOf, type PackageEntry, unpack } from '../../evidence/package/reading-packages.js';

const POLL_MS = 300;

describe('evidence exports', () => {
  let world: ExportWorld;
  let eventIds: string[];
  beforeAll(async () => {
    world = await startExportWorld();
    eventIds = await world.record(['alice', 'bob', 'carol']);
  });
  afterAll(() => world.stop());

  const unpacked = async (bytes: Uint8Array): Promise<Map<string, Buffer>> => {
    const folder = await mkdtemp(join(tmpdir(), 'export-test-'));
    try {
      await writeFile(join(folder, 'package.zip'), bytes);
      return await unpack(join(folder, 'package.zip'));
    } finally {
      await rm(folder, { recursive: true });
    }
  };
  const bytesOf = async (response: Response): Promise<Uint8Array> => new Uint8Array(await response.arrayBuffer());
  const exported = async (body: object) => {
    const { id } = await world.create(body);
    const job = await world.reaches(id, 'finished');
    const bytes = await bytesOf(await world.download(id));
    const files = await unpacked(bytes);
    const consents = entriesOf(files).filter(({ entry }) => entry.type === 'ConsentRecorded.v1');
    return { job, bytes, manifest: manifestOf(files), consents };
  };
  const auditOf = async (action: string, subject: string) =>
    (await world.panel.as(world.user('owner'), 'GET', `/audit-log?action=${action}&subject_id=${subject}`)).body;
  const namesOf = ({ values }: PackageEntry) => Object.keys(values).sort();

  it('builds a package that the verifier finds valid, and describes its content', async () => {
    const created = await world.create();
    expect(created).toMatchObject({ state: 'queued', disclose: 'none', reason: null, package: null });
    const job = await world.reaches(created.id, 'finished');
    expect(job).toMatchObject({
      site_id: world.siteId,
      requested_by: { user_id: world.user('dpo').id, channel: 'panel' },
      progress: null,
      package: { counts: { consents: 3, not_yet_stamped: 0, erased: 0 } },
    });
    const response = await world.download(created.id);
    expect(response.status).toBe(200);
    const bytes = await bytesOf(response);
    const sha256 = createHash('sha256').update(bytes).digest();
    expect(job.package).toMatchObject({ bytes: bytes.length, sha256: sha256.toString('hex') });
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'application/zip',
      'content-length': String(bytes.length),
      'content-disposition': `attachment; filename="evidence-${world.siteId}-${created.id}.zip"`,
      'repr-digest': `sha-256=:${sha256.toString('base64')}:`,
      etag: `"${sha256.toString('hex')}"`,
      'cache-control': 'no-store',
    });
    const verdict = world.verify(bytes);
    expect(JSON.parse(verdict.stdout)).toMatchObject({ verdict: 'valid' });
    expect(verdict.status).toBe(0);
    const manifest = manifestOf(await unpacked(bytes));
    expect(manifest.exported_by).toBe(`panel user ${world.user('dpo').id}, export ${created.id}`);
    expect(await auditOf('export.create', created.id)).toMatchObject({
      data: [{ actor: { user_id: world.user('dpo').id }, details: { filter: [], disclose: 'none' } }],
    });
    const place = `/sites/${world.siteId}/exports/${created.id}/package`;
    expect(await world.panel.as(world.user('dpo'), 'HEAD', place)).toMatchObject({ status: 405, body: null });
    expect(await auditOf('export.download', created.id)).toMatchObject({
      data: [{ actor: { user_id: world.user('dpo').id }, details: { channel: 'panel' } }],
    });
  });

  it('states reason and role in the package if asked to, and a name only if one is given', async () => {
    expect((await exported({})).manifest).not.toHaveProperty('export');
    const { manifest, bytes, job } = await exported({ stated: { reason: 'court_proceedings' } });
    expect(manifest.export).toEqual({ role: 'dpo', reason: 'court_proceedings' });
    expect(world.verify(bytes).status).toBe(0);
    expect(await auditOf('export.create', job.id)).toMatchObject({
      data: [{ details: { stated_reason: 'court_proceedings' } }],
    });
    const named = await exported({
      stated: { reason: 'other', name: 'Ayşe Yılmaz' },
      disclose: 'all',
      reason: 'for the court',
    });
    expect(named.manifest.export).toEqual({ role: 'dpo', reason: 'other', name: 'Ayşe Yılmaz' });
    // Free text stays in the audit log.
    expect(JSON.stringify(named.manifest)).not.toContain('for the court');
    const wrong = [
      { reason: 'curiosity' },
      { name: 'A' },
      { reason: 'other', name: 'A\nB' },
      { reason: 'other', role: 'owner' },
    ];
    for (const stated of wrong) {
      const refused = await world.panel.as(world.user('dpo'), 'POST', `/sites/${world.siteId}/exports`, { stated });
      expect(refused, JSON.stringify(stated)).toMatchObject({ status: 422, body: { code: 'VALIDATION_ERROR' } });
    }
  });

  it('discloses nothing, the fields chosen, or all', async () => {
    expect((await exported({})).consents.flatMap(namesOf)).toEqual([]);
    const chosen = await exported({ disclose: ['signer_email'] });
    expect(chosen.consents.map(namesOf)).toEqual([['signer_email'], ['signer_email'], ['signer_email']]);
    expect(chosen.job.disclose).toEqual(['signer_email']);
    const all = await exported({ disclose: 'all' });
    expect(all.consents.map(({ values }) => values.visitor_id)).toEqual(['alice', 'bob', 'carol']);
    for (const { bytes } of [chosen, all]) expect(world.verify(bytes).status).toBe(0);
  });

  it('takes the filters of the command line', async () => {
    const [alice = '', bob = ''] = eventIds;
    const token = `ct_${bob.replaceAll('-', '')}`;
    const records = await exported({ filter: { records: [alice.toUpperCase(), token] } });
    expect(new Set(records.consents.map(({ entry }) => entry.event_id))).toEqual(new Set([alice, bob]));
    expect(records.job.filter).toMatchObject({ records: [alice, bob], by_visitor: false });
    const later = await exported({ filter: { from: '2100-01-01T00:00:00+02:00', consent_type: 'cookie' } });
    expect(later.job.package?.counts.consents).toBe(0);
    expect(later.manifest.filter).toMatchObject({ from: '2099-12-31T22:00:00.000Z', consent_type: 'cookie' });
    const version = await exported({ filter: { document_version_id: randomUUID() } });
    expect(version.consents).toEqual([]);
  });

  it('exports one visitor, whom nothing but a disclosure names', async () => {
    let id = '';
    const kept = async () => {
      const { rows } = await world.panel.app.superuser.query(
        'select row(j.*)::text as job, sealed_visitor from export_jobs j where export_id = $1',
        [id],
      );
      return rows[0];
    };
    await world.holdPackages(async () => {
      id = (await world.create({ filter: { visitor_id: 'alice' } })).id;
      const { job, sealed_visitor: sealed } = await kept();
      expect(sealed).not.toBeNull();
      expect(job).not.toContain('alice');
      expect(job).not.toContain(Buffer.from('alice').toString('hex'));
    });
    const job = await world.reaches(id, 'finished');
    expect((await kept()).sealed_visitor).toBeNull();
    expect(job.filter).toMatchObject({ by_visitor: true });
    const files = await unpacked(await bytesOf(await world.download(id)));
    expect(entriesOf(files).filter(({ entry }) => entry.type === 'ConsentRecorded.v1')).toHaveLength(1);
    const answer = await world.panel.as(world.user('dpo'), 'GET', `/sites/${world.siteId}/exports/${id}`);
    const { filter_disclosures: disclosures } = Object(Object(answer.body).data);
    expect(decodeDisclosure(disclosures[0])).toMatchObject({ name: 'visitor_id', value: 'alice' });
    expect(JSON.stringify(manifestOf(files))).not.toContain('alice');
    const audit = await auditOf('export.create', id);
    expect(audit).toMatchObject({ data: [{ details: { filter: ['visitor_id'] } }] });
    expect(JSON.stringify(audit)).not.toContain('alice');
  });

  it('refuses what it does not understand', async () => {
    for (const body of [
      { filter: { visitor: 'alice' } },
      { filter: { from: '2026-01-02T00:00:00Z', to: '2026-01-01T00:00:00Z' } },
      { filter: { records: ['x'] } },
      { disclose: ['decision'], reason: 'for the test' },
      { disclose: 'some', reason: 'for the test' },
      { disclose: 'all' },
      { filter: { visitor_id: 'alice' }, disclose: 'all', reason: 'Alice asks' },
    ]) {
      const answer = await world.panel.as(world.user('dpo'), 'POST', `/sites/${world.siteId}/exports`, body);
      expect(answer, JSON.stringify(body)).toMatchObject({ status: 422, body: { code: 'VALIDATION_ERROR' } });
    }
  });

  it('shows progress, lists exports newest first, and cancels one that is queued or runs', async () => {
    const path = `/sites/${world.siteId}/exports`;
    const ids: string[] = [];
    await world.holdPackages(async () => {
      const first = await world.create({ disclose: 'all' });
      await world.reaches(first.id, 'running');
      const second = await world.create();
      ids.push(first.id, second.id);
      let progress = (await world.read(first.id)).progress;
      while (progress === null) {
        await sleep(POLL_MS);
        progress = (await world.read(first.id)).progress;
      }
      expect(progress.total === null || progress.done <= progress.total).toBe(true);
      expect((await world.read(second.id)).state).toBe('queued');
      const early = await world.download(first.id);
      expect([early.status, Object(await early.json()).code]).toEqual([409, 'EXPORT_NOT_FINISHED']);
      const listed = await world.panel.as(world.user('owner'), 'GET', `${path}?limit=2`);
      expect(Object(listed.body).data.map((job: object) => Object(job).id)).toEqual([second.id, first.id]);
      const next = await world.panel.as(
        world.user('owner'),
        'GET',
        `${path}?cursor=${Object(listed.body).next_cursor}`,
      );
      expect(Object(next.body).data.map((job: object) => Object(job).id)).not.toContain(first.id);
      for (const id of ids) {
        const cancelled = await world.panel.as(world.user('dpo'), 'POST', `${path}/${id}/cancel`);
        expect(cancelled).toMatchObject({ status: 200, body: { data: { state: 'cancelled', reason: 'requested' } } });
        const again = await world.panel.as(world.user('dpo'), 'POST', `${path}/${id}/cancel`);
        expect(again).toMatchObject({ status: 409, body: { code: 'WRONG_STATE' } });
      }
    });
    await world.reaches((await world.create()).id, 'finished');
    for (const id of ids) {
      expect((await world.read(id)).state).toBe('cancelled');
      const gone = await world.download(id);
      expect([gone.status, Object(await gone.json()).code]).toEqual([410, 'EXPORT_GONE']);
      expect(await auditOf('export.cancel', id)).toMatchObject({ data: [{ subject: { id } }] });
    }
  });

  it('answers parts, so that a download can be resumed', async () => {
    const { id } = await world.create({ disclose: 'all' });
    await world.reaches(id, 'finished');
    const whole = await bytesOf(await world.download(id));
    const part = await world.download(id, { range: 'bytes=100-199' });
    expect([part.status, part.headers.get('content-range')]).toEqual([206, `bytes 100-199/${whole.length}`]);
    expect(await bytesOf(part)).toEqual(whole.slice(100, 200));
    const end = await world.download(id, { range: 'bytes=-7' });
    expect(await bytesOf(end)).toEqual(whole.slice(-7));
    const other = await world.download(id, { range: 'bytes=100-', 'if-range': '"another"' });
    expect([other.status, (await bytesOf(other)).length]).toEqual([200, whole.length]);
    const beyond = await world.download(id, { range: `bytes=${whole.length}-` });
    expect([beyond.status, beyond.headers.get('content-range')]).toEqual([416, `bytes */${whole.length}`]);
  });

  it('deletes an export, its package and its rows', async () => {
    const { id } = await world.create();
    await world.reaches(id, 'finished');
    const path = `/sites/${world.siteId}/exports/${id}`;
    const deleted = await world.panel.as(world.user('dpo'), 'DELETE', path);
    expect(deleted).toMatchObject({ status: 200, body: { data: { id, state: 'finished' } } });
    expect((await world.download(id)).status).toBe(404);
    expect(await world.panel.as(world.user('dpo'), 'GET', path)).toMatchObject({ status: 404 });
    // A sweep of the service may have come first.
    const { superuser, service } = world.panel.app;
    const kept = await superuser.query('select from exports where id = $1 and seed is not null', [id]);
    expect(kept.rowCount).toBe(0);
    await sweepExports(service.installation.workerPool);
    const left = await superuser.query(
      'select export_id from export_chunks where export_id = $1 union select export_id from export_jobs where export_id = $1',
      [id],
    );
    expect(left.rows).toEqual([]);
  });

  it('knows exports by their own site and tenant only, for roles that see personal data', async () => {
    const { id } = await world.create();
    await world.reaches(id, 'finished');
    const { own, foreign, as } = world.panel;
    const routes = [
      ['GET', ''],
      ['GET', '/package'],
      ['POST', '/cancel'],
      ['DELETE', ''],
    ] as const;
    for (const [method, rest] of routes) {
      const below = `/exports/${id}${rest}`;
      const byId = await as(foreign.users.owner, method, `/sites/${foreign.siteId}${below}`);
      expect(byId, below).toMatchObject({ status: 404, body: { code: 'RESOURCE_NOT_FOUND' } });
      const bySite = await as(own.users.owner, method, `/sites/${world.siteId}${below}`);
      expect(bySite, below).toMatchObject({ status: 404, body: { code: 'SITE_NOT_FOUND' } });
      const byRole = await as(world.user('viewer'), method, `/sites/${world.siteId}${below}`);
      expect(byRole, below).toMatchObject({ status: 403, body: { code: 'INSUFFICIENT_ROLE' } });
    }
    expect((await world.read(id)).state).toBe('finished');
  });
});

it('refuses more exports of a tenant than it may have', async () => {
  const world = await startExportWorld({ EXPORT_MAX_PER_TENANT: '2' });
  try {
    const first = await world.create();
    await world.create();
    const path = `/sites/${world.siteId}/exports`;
    const refused = await world.panel.as(world.user('dpo'), 'POST', path, {});
    expect(refused).toMatchObject({ status: 429, body: { code: 'EXPORT_LIMIT_EXCEEDED' } });
    await world.panel.as(world.user('dpo'), 'DELETE', `${path}/${first.id}`);
    await world.create();
  } finally {
    await world.stop();
  }
});
