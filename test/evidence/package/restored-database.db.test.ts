import { createSecretKey } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROJECTIONS } from '../../../projections/index.js';
import { consentsStream, noticesStream } from '../../../schemas/events/streams.js';
import { runAudit } from '../../../src/audit/audit.js';
import { applyErasures, eraseSubject, openErasureJournal } from '../../../src/erasure/index.js';
import { exportEvidence } from '../../../src/evidence/package/index.js';
import { createProjector, knownProjection, projectionStatus } from '../../../src/pipeline/projector/index.js';
import { type LogRecovery, recoverLog } from '../../../src/pipeline/relay/recover-log.js';
import { publishSiteConfig } from '../../../src/tenancy/configuration/publish-site-config.js';
import { activeVersion, createSiteFixture, siteConfig } from '../../pipeline/admission/site-fixture.js';
import { count, silent, whileRunning } from '../../pipeline/relay/pipeline.js';
import { backUpTestDatabase } from '../../support/postgres.js';
import { until } from '../../support/wait.js';
import { type LedgerWorld, ORIGIN, openLedgerWorld } from './ledger-world.js';
import { entriesOf, manifestOf, problemsOf, unpack, verify } from './reading-packages.js';

let world: LedgerWorld;
/** Records whose keys are in the backup, and records that only the log has. */
let kept: string[];
let lost: string[];
let recovery: LogRecovery;
/** A site that was made after the backup. */
let goneSite: string;

beforeAll(async () => {
  world = await openLedgerWorld({ isLogElsewhere: true });
  const { pipeline, site, otherSite, keyring, folder } = world;
  const { worker: db, eventLog, owner } = pipeline;
  const journal = openErasureJournal(join(folder, 'erasures.ndjson'));
  kept = await world.record(site, [{ visitorId: 'ann' }, { visitorId: 'ben' }, { visitorId: 'ann' }]);
  await world.record(otherSite, [{ visitorId: 'ann' }]);
  await world.stamp();
  const backup = await backUpTestDatabase(pipeline.url);

  await activeVersion(owner, site.siteId, site.formDocumentId, 'tr');
  await publishSiteConfig(owner, site.siteId, siteConfig(30));
  lost = await world.record(site, [{ visitorId: 'ann' }, { visitorId: 'cem' }, { visitorId: 'cem' }]);
  await world.record(site, [{ visitorId: 'dan' }, { visitorId: 'eve' }]);
  await world.record(otherSite, [{ visitorId: 'ben' }, { visitorId: 'ben' }]);
  const later = await createSiteFixture(owner);
  goneSite = later.siteId;
  await world.record(later, [{ visitorId: 'ann' }]);
  await world.stamp();
  const erase = (value: string) =>
    eraseSubject({ db, keyring, journal }, { siteId: site.siteId, by: { kind: 'visitor', value } });
  await erase('dan');
  await world.stamp();
  // Announced in no log yet: only the journal knows of it.
  await erase('eve');

  await backup.restore();
  const journaled = new Set<string>();
  for await (const { line } of journal.read(0)) for (const id of line?.erased?.event_ids ?? []) journaled.add(id);
  recovery = await recoverLog(db, eventLog, keyring, journaled);
  await applyErasures({ db, eventLog, journal });
  await world.stamp();
});
afterAll(() => world.close());

async function exported(filter: { readonly visitorId?: string } = {}) {
  const { pipeline, keyring, site, folder } = world;
  const output = join(folder, `${filter.visitorId ?? 'site'}.zip`);
  return exportEvidence(
    { db: pipeline.worker, eventLog: pipeline.eventLog, keyring, origin: ORIGIN },
    { siteId: site.siteId, filter, disclose: 'all', output, exportedBy: 'test' },
  );
}

/** Builds the read models anew, as the worker does after a recovery. */
async function project(): Promise<void> {
  const { eventLog, projections: db } = world.pipeline;
  const known = PROJECTIONS.map((projection) => knownProjection(projection, 'service'));
  const projector = createProjector({ db, eventLog, logger: silent, projections: PROJECTIONS, stoppedPollMs: 50 });
  await whileRunning([projector], () =>
    until(async () =>
      (await projectionStatus(db, eventLog, known)).every((one) => one.isUpToDate === true && one.state === 'running'),
    ),
  );
}

describe('a database that was restored older than the event log', () => {
  it('has every time stamp again, with what was gathered for it', async () => {
    const { owner } = world.pipeline;
    expect(await count(owner, 'checkpoints')).toBe(4);
    expect(
      await count(
        owner,
        `checkpoints c, unnest(c.certificates || c.crls || c.ocsp) as named (sha256)
          where not exists (select from kept_evidence e where e.sha256 = named.sha256)`,
      ),
    ).toBe(0);
  });

  it('lacks keys, which the recovery counts by site, without the records that were erased', () => {
    const { site, otherSite } = world;
    expect(recovery.lostKeys).toHaveLength(3);
    expect(recovery.lostKeys).toEqual(
      expect.arrayContaining([
        { siteId: site.siteId, records: 3, isSiteKnown: true },
        { siteId: otherSite.siteId, records: 2, isSiteKnown: true },
        { siteId: goneSite, records: 1, isSiteKnown: false },
      ]),
    );
  });

  it('gives a package of the site that is valid and states the gap', async () => {
    const { path, counts } = await exported();
    expect(counts).toMatchObject({ consents: 8, erased: 2, key_lost: 3 });
    const report = await verify(world, path);
    expect(problemsOf(report)).toEqual([]);
    expect(report.verdict).toBe('valid');
    expect(report.warnings.first.map(({ message }) => message).join()).toContain('lost the keys of 3 records');
    const files = await unpack(path);
    expect(manifestOf(files).counts.key_lost).toBe(3);
    expect(String(files.get('README.txt'))).toContain('lost the keys of 3 consents');
    const entries = entriesOf(files).filter(({ entry }) => entry.stream === consentsStream(world.site.siteId));
    const marked = entries.filter(({ line }) => line.key_lost === true).map(({ entry }) => entry.event_id);
    expect(marked).toEqual(lost);
    for (const { entry, values } of entries)
      expect(values.visitor_id !== undefined, entry.event_id).toBe(kept.includes(entry.event_id));
  });

  it('gives a package of a person with the record whose key is lost', async () => {
    const { path, counts } = await exported({ visitorId: 'ann' });
    expect(counts).toMatchObject({ consents: 3, key_lost: 1 });
    const report = await verify(world, path);
    expect(problemsOf(report)).toEqual([]);
    expect(report.coverage?.person).toBe('complete');
  });

  it('has one finding for each site with lost keys', async () => {
    const { pipeline, keyring, master, tsaRoot, site, otherSite } = world;
    await project();
    const { findings } = await runAudit({
      db: pipeline.newPool('consent_ledger_auditor'),
      eventLog: pipeline.eventLog,
      keyring,
      master: createSecretKey(master),
      trustAnchors: [tsaRoot],
      now: () => new Date(),
    });
    const found = findings.filter(({ kind }) => kind === 'record-without-key');
    // The database has no streams of the site that is gone, and nothing else differs.
    const differing = findings.filter(({ kind }) => kind === 'reference-differs').map(({ key }) => key);
    expect(differing).toEqual([consentsStream(goneSite), noticesStream(goneSite)]);
    expect(found.map(({ key, detail }) => [key, detail.split(' ')[0]])).toEqual(
      expect.arrayContaining([
        [site.siteId, '3'],
        [otherSite.siteId, '2'],
        [goneSite, '1'],
      ]),
    );
    expect(found).toHaveLength(3);
  });
});
