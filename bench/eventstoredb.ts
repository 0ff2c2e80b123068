import { createSecretKey, randomUUID } from 'node:crypto';
import pg from 'pg';
import * as z from 'zod';
import { CONSENT_RECORDED } from '../schemas/events/consent-recorded.js';
import { createEventStoreDbEventLog } from '../src/pipeline/event-log/eventstoredb/eventstoredb-event-log.js';
import { type EventLog, NO_STREAM } from '../src/pipeline/event-log/port.js';
import type { EmbeddedPostgres } from '../src/platform/database/embedded/index.js';
import { createKeyring } from '../src/platform/keys/index.js';
import type { SiteFixture } from '../test/pipeline/admission/site-fixture.js';
import { postmasterPid } from './processor-time.js';
import { printRatio } from './report.js';
import { RunningRole } from './running-role.js';
import { type Backlog, describeBacklog, processBacklog, rateOf, type WorkerBench } from './worker.js';

const EVENTS = 20_000;
const WARM_UP = 5_000;
const ROUNDS = 3;
/** As many as the bare insert of the other benchmarks puts into a statement. */
const BARE_EVENTS = 100;

const Bodies = z.array(z.object({ body: z.instanceof(Buffer) }));
const Position = z.tuple([z.object({ position: z.string().nullable() })]);

/**
 * Measures how fast the worker moves waiting events of one site to an EventStoreDB, seals and projects
 * them, against bare appends of the same bodies by the same client.
 * @param eventStoreUrl connection string of a server that is new, and that no other program uses
 */
export async function benchEventStoreDb(
  eventStoreUrl: string,
  postgres: EmbeddedPostgres,
  masterKey: Uint8Array,
  site: SiteFixture,
): Promise<void> {
  const url = postgres.superuserUrl;
  const owner = new pg.Pool({ connectionString: url, max: 4, options: '-c synchronous_commit=off' });
  const keyring = await createKeyring(owner, createSecretKey(masterKey));
  const eventLog = createEventStoreDbEventLog(eventStoreUrl);
  const worker = await RunningRole.start('worker', url, Buffer.from(masterKey), {
    BATCH_MAX_AGE_MS: '1000',
    EVENTSTORE_URL: eventStoreUrl,
  });
  const bench: WorkerBench = {
    owner,
    keyring,
    worker,
    postmaster: await postmasterPid(url),
    isBehind: () => isBehind(owner, eventLog),
  };
  try {
    const sites = { tenantId: site.tenantId, siteIds: [site.siteId], documentVersionId: site.versions.cookieEn };
    await processBacklog(bench, sites, WARM_UP);
    const backlogs: Backlog[] = [];
    const appends: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      backlogs.push(await processBacklog(bench, sites, EVENTS));
      appends.push(await appendRate(owner, eventLog));
    }
    printRatio(
      'Worker on EventStoreDB, waiting events of one site to sealed and projected, against bare appends of the same bodies',
      0.5,
      backlogs.map((run, i) => rateOf(run) / (appends[i] ?? Number.NaN)),
    );
    for (const run of backlogs) console.log(`  ${describeBacklog(run)}`);
    console.log(`  appends: ${appends.map((rate) => `${Math.round(rate)} events/s`).join(', ')}`);
  } finally {
    await worker.stop();
    await eventLog.close();
    await owner.end();
  }
}

async function isBehind(owner: pg.Pool, eventLog: EventLog): Promise<boolean> {
  const { rows } = await owner.query('select min(position) as position from projection_generations');
  const [{ position }] = Position.parse(rows);
  const page = await eventLog.readAll(position, 100);
  return page.events.length > 0 || !page.atEnd;
}

/** @returns events a second, to a new stream that the worker does not read */
async function appendRate(owner: pg.Pool, eventLog: EventLog): Promise<number> {
  const { rows } = await owner.query(
    'select data as body from event_log.events where type = $1 order by stream, revision desc limit $2',
    [CONSENT_RECORDED, EVENTS],
  );
  const bodies = Bodies.parse(rows).map(({ body }) => body);
  const stream = `bench-${randomUUID()}`;
  const started = performance.now();
  let revision = NO_STREAM;
  for (let at = 0; at < bodies.length; at += BARE_EVENTS) {
    const events = bodies
      .slice(at, at + BARE_EVENTS)
      .map((data) => ({ id: randomUUID(), type: CONSENT_RECORDED, data, metadata: new Uint8Array(0) }));
    revision = (await eventLog.append(stream, revision, events)).lastRevision;
  }
  return (bodies.length / (performance.now() - started)) * 1_000;
}
