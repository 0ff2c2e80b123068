import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { PROJECTIONS } from '../../../projections/index.js';
import { consentsStream, LEDGER_STREAM } from '../../../schemas/events/streams.js';
import { countSite } from '../../../src/app/count-site.js';
import { copyLog } from '../../../src/pipeline/event-log/copy-log.js';
import { LogBehind, LogDiverged, RevisionGap } from '../../../src/pipeline/event-log/errors.js';
import { NO_STREAM } from '../../../src/pipeline/event-log/port.js';
import { listQuarantinedSites } from '../../../src/pipeline/event-log/quarantined-sites.js';
import { catchUpLedger } from '../../../src/pipeline/ledger/apply-ledger.js';
import { LedgerCorrupt } from '../../../src/pipeline/ledger/errors.js';
import { createProjector, prepareProjections, rebuildProjection } from '../../../src/pipeline/projector/index.js';
import { reconcile } from '../../../src/pipeline/relay/placement.js';
import { recoverLog } from '../../../src/pipeline/relay/recover-log.js';
import { createRelay } from '../../../src/pipeline/relay/relay.js';
import { loggedRevision } from '../../../src/pipeline/relay/waiting.js';
import { createSealer } from '../../../src/pipeline/sealer/sealer.js';
import type { BackgroundPart } from '../../../src/platform/background/part.js';
import { until } from '../../support/wait.js';
import { damageSql, inStream, insertForeign } from '../event-log/postgres-fixture.js';
import {
  admit,
  count,
  newConsent,
  newSigner,
  type Pipeline,
  silent,
  startPipeline,
  testKeyring,
  whileRunning,
} from './pipeline.js';

const usesPostgres = !process.env.EVENTSTORE_URL;

describe.skipIf(!usesPostgres)('a log that another program or an operator damaged', () => {
  let pipeline: Pipeline;
  const signer = newSigner();
  beforeEach(async () => {
    pipeline = await startPipeline();
    await prepareProjections(pipeline.projections, PROJECTIONS);
  });
  afterEach(() => pipeline.close());

  function parts(checkPaceMs = 20): BackgroundPart[] {
    const { worker: db, projections, eventLog } = pipeline;
    const shared = { keyring: testKeyring, db, eventLog, logger: silent, pollMs: 20 };
    return [
      createRelay({ ...shared, retentionMs: 3_600_000, checkPaceMs }),
      createSealer({ ...shared, signer, limits: { maxLeaves: 10, maxAgeMs: 50 } }),
      createProjector({ db: projections, eventLog, logger: silent, projections: PROJECTIONS, stoppedPollMs: 50 }),
    ];
  }

  async function newSite(): Promise<string> {
    const [tenant, site] = [randomUUID(), randomUUID()];
    await pipeline.owner.query('insert into tenants (id, name) values ($1, $2)', [tenant, 'Example']);
    await pipeline.owner.query('insert into sites (id, tenant_id, name, domain) values ($1, $2, $3, $4)', [
      ...[site, tenant, 'Shop', 'shop.example'],
    ]);
    return site;
  }

  const rowsOf = (site: string) => count(pipeline.owner, 'read_model.consents where site_id = $1', [site]);
  const leavesOf = (site: string) => count(pipeline.owner, 'leaves where stream = $1', [consentsStream(site)]);
  const isDone = async (site: string, n: number) => (await leavesOf(site)) === n && (await rowsOf(site)) === n;

  /** Admits consents, and waits until a site has `total` of them sealed and projected. */
  async function consent(site: string, n: number, total = n): Promise<void> {
    const events = Array.from({ length: n }, () => newConsent(site));
    await admit(pipeline.owner, site, events);
    await whileRunning(parts(), () => until(() => isDone(site, total)));
  }

  async function damage(...statements: readonly string[]): Promise<void> {
    for (const statement of statements.flatMap(damageSql)) await pipeline.owner.query(statement);
  }

  const removeFirst = (stream: string, n: number) =>
    damage(`delete from event_log.events where ${inStream(stream)} and revision < ${n}`);
  const quarantined = async () => (await listQuarantinedSites(pipeline.worker)).map(({ siteId }) => siteId);
  const rebuild = () => {
    const [projection] = PROJECTIONS.filter(({ tables }) => Object.hasOwn(tables, 'consents'));
    if (projection === undefined) throw new Error('no projection has the table consents');
    return rebuildProjection({ db: pipeline.projections, eventLog: pipeline.eventLog, projection, isFollowed: false });
  };

  test('a foreign event in a stream of a site quarantines the site, and the others go on', async () => {
    const [site, other] = [await newSite(), await newSite()];
    await consent(site, 2);
    await insertForeign(pipeline.owner, consentsStream(site), 'OrderPlaced');
    await insertForeign(pipeline.owner, 'orders-1', 'OrderPlaced');
    await consent(other, 3);
    expect(await quarantined()).toEqual([site]);
    expect(await isDone(site, 2)).toBe(true);
    await expect(copyLog(pipeline.eventLog, await pipeline.newLog())).rejects.toThrow(LogDiverged);
    expect(await recoverLog(pipeline.worker, pipeline.eventLog, testKeyring)).toMatchObject({
      adoptedEvents: 0,
      missing: [],
      foreign: [{ stream: consentsStream(site), revision: 2, type: 'OrderPlaced' }],
    });
    expect(await quarantined()).toEqual([site]);
  });

  test('an event with other bytes than the admitted one is not taken for it', async () => {
    const site = await newSite();
    const [stream, consent] = [consentsStream(site), newConsent(site)];
    await admit(pipeline.owner, site, [consent]);
    const log = await pipeline.newLog();
    await log.append(stream, NO_STREAM, [{ ...consent, data: Buffer.from('{}') }]);
    await expect(reconcile(pipeline.worker, log, site, stream)).rejects.toThrow(LogDiverged);
    expect(await loggedRevision(pipeline.worker, stream)).toBe(NO_STREAM);
  });

  test('a site is sealed again from the first event on that was left out, after its repair and release', async () => {
    const site = await newSite();
    await consent(site, 2);
    await admit(pipeline.owner, site, [newConsent(site)]);
    const stream = consentsStream(site);
    const swap = (type: string) =>
      damage(`update event_log.events set type = '${type}' where ${inStream(stream)} and revision = 2`);
    const [relay, sealer, projector] = parts();
    if (relay === undefined || sealer === undefined || projector === undefined) throw new Error('a part is missing');
    await whileRunning([relay], () => until(async () => (await pipeline.eventLog.lastRevision(stream)) === 2));
    await swap('OrderPlaced.v1');
    await whileRunning([sealer], async () => {
      await until(async () => (await quarantined()).length === 1);
      await swap('ConsentRecorded.v1');
      await pipeline.owner.query('delete from quarantined_sites');
      await until(async () => (await leavesOf(site)) === 3);
    });
  });

  test('a foreign event in the ledger stops signing, and says where', async () => {
    await consent(await newSite(), 1);
    await insertForeign(pipeline.owner, LEDGER_STREAM, 'OrderPlaced');
    await expect(catchUpLedger(pipeline.worker, pipeline.eventLog)).rejects.toThrow(LedgerCorrupt);
    await expect(catchUpLedger(pipeline.worker, pipeline.eventLog)).rejects.toThrow('OrderPlaced');
  });

  test('removed events quarantine their site while the service runs, and no reader passes over them', async () => {
    const [site, other] = [await newSite(), await newSite()];
    await consent(site, 5);
    const all = parts();
    await whileRunning(all, async () => {
      // The relay has looked at the whole log before it leads, and must look again.
      await until(async () => all[0]?.status().leader === true);
      await removeFirst(consentsStream(site), 3);
      await until(async () => (await quarantined()).length === 1);
    });
    expect(await quarantined()).toEqual([site]);
    await consent(other, 2);
    await expect(countSite({ db: pipeline.worker, eventLog: pipeline.eventLog }, site)).rejects.toThrow(RevisionGap);
    await expect(copyLog(pipeline.eventLog, await pipeline.newLog())).rejects.toThrow(RevisionGap);
    await expect(rebuild()).rejects.toThrow(RevisionGap);
    expect(await rowsOf(site)).toBe(5);
    const { missing } = await recoverLog(pipeline.worker, pipeline.eventLog, testKeyring);
    expect(missing).toEqual([{ stream: consentsStream(site), firstRevision: 0, lastRevision: 2 }]);
    expect(await quarantined()).toEqual([site]);
  });

  test('events that were removed before they were sealed leave out their site only', async () => {
    const [site, other] = [await newSite(), await newSite()];
    const stream = consentsStream(site);
    await admit(pipeline.owner, site, [newConsent(site), newConsent(site)]);
    const [relay, sealer] = parts(60_000);
    if (relay === undefined || sealer === undefined) throw new Error('a part is missing');
    await whileRunning([relay], () => until(async () => (await pipeline.eventLog.lastRevision(stream)) === 1));
    await removeFirst(stream, 1);
    await consent(other, 2);
    expect(await quarantined()).toEqual([site]);
    expect(await leavesOf(site)).toBe(0);
  });

  test('a deleted stream quarantines its site at the next start, and a rebuild keeps its rows', async () => {
    const [site, other] = [await newSite(), await newSite()];
    await consent(site, 4);
    await damage(`delete from event_log.events where ${inStream(consentsStream(site))}`);
    await consent(other, 2);
    expect(await quarantined()).toEqual([site]);
    await expect(rebuild()).rejects.toThrow(LogBehind);
    expect(await rowsOf(site)).toBe(4);
    // This log is where the events are stored: there is no other copy.
    const { missing, refilledEvents } = await recoverLog(pipeline.worker, pipeline.eventLog, testKeyring);
    expect({ missing, refilledEvents }).toEqual({
      missing: [{ stream: consentsStream(site), firstRevision: 0, lastRevision: 3 }],
      refilledEvents: 0,
    });
    expect(await quarantined()).toEqual([site]);
  });

  test('a ledger that lost its beginning stops the relay, with the reason', async () => {
    await consent(await newSite(), 1);
    await removeFirst(LEDGER_STREAM, 1);
    const stop = new AbortController();
    const [relay] = parts();
    await expect(relay?.run(stop.signal)).rejects.toThrow(RevisionGap);
  });
});
