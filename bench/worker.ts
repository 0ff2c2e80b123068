import { createSecretKey, randomUUID } from 'node:crypto';
import pg from 'pg';
import * as z from 'zod';
import type { EmbeddedPostgres } from '../src/platform/database/embedded/index.js';
import { createKeyring, type Keyring } from '../src/platform/keys/index.js';
import type { SiteFixture } from '../test/pipeline/admission/site-fixture.js';
import { type RecordedSites, recordManyConsents } from '../test/support/recorded-consents.js';
import { BareInsert } from './bare-insert.js';
import { postgresCpuMs, postmasterPid } from './processor-time.js';
import { printRatio } from './report.js';
import { RunningRole } from './running-role.js';

const EVENTS = 20_000;
const SITES = 5_000;
const EVENTS_EACH = 2;
const WARM_UP = 5_000;
const ROUNDS = 3;
const BARE_ROWS = 100;
const POLL_MS = 100;
const MAX_MS = 600_000;

/** A backlog that the worker processed: until every event is in the log, sealed and projected. */
export interface Backlog {
  readonly events: number;
  readonly ms: number;
  readonly workerCpuMs: number;
  readonly postgresCpuMs: number;
}

/**
 * Measures how fast the worker moves waiting events to the log, seals and projects them: events of
 * one site against a bare multi-row insert of the same bodies, and events of many sites against one.
 * @param masterKey 32 bytes, of the keyring in the database
 * @param site a site of the database of `postgres`
 */
export async function benchWorker(postgres: EmbeddedPostgres, masterKey: Uint8Array, site: SiteFixture): Promise<void> {
  const url = postgres.superuserUrl;
  const owner = new pg.Pool({ connectionString: url, max: 4, options: '-c synchronous_commit=off' });
  const keyring = await createKeyring(owner, createSecretKey(masterKey));
  // A batch that is not full would wait ten seconds by default, which is not work.
  const worker = await RunningRole.start('worker', url, Buffer.from(masterKey), { BATCH_MAX_AGE_MS: '1000' });
  const bench = {
    owner,
    keyring,
    worker,
    postmaster: await postmasterPid(url),
    isBehind: () => isBehindPostgres(owner),
  };
  try {
    const source = { tenantId: site.tenantId, documentVersionId: site.versions.cookieEn };
    const one = { ...source, siteIds: [site.siteId] };
    const many = { ...source, siteIds: await insertSites(owner, site, SITES) };
    await processBacklog(bench, one, WARM_UP);
    const ofOne: Backlog[] = [];
    const ofMany: Backlog[] = [];
    const inserts: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      ofOne.push(await processBacklog(bench, one, EVENTS));
      ofMany.push(await processBacklog(bench, many, SITES * EVENTS_EACH));
      inserts.push(await insertRate(url));
    }
    printRatio(
      'Worker, waiting events of one site to sealed and projected, against a bare multi-row insert of the same bodies',
      0.4,
      ofOne.map((run, i) => rateOf(run) / (inserts[i] ?? Number.NaN)),
    );
    for (const run of ofOne) console.log(`  ${describeBacklog(run)}`);
    console.log(`  insert: ${inserts.map((rate) => `${Math.round(rate)} rows/s`).join(', ')}`);
    printRatio(
      `Worker, ${EVENTS_EACH} waiting events of each of ${SITES} sites, against events of one site`,
      0.7,
      ofMany.map((run, i) => rateOf(run) / rateOf(ofOne[i] ?? run)),
    );
    for (const run of ofMany) console.log(`  ${describeBacklog(run)}`);
  } finally {
    await worker.stop();
    await owner.end();
  }
}

/** A worker, and the database in which it works. */
export interface WorkerBench {
  readonly owner: pg.Pool;
  readonly keyring: Keyring;
  readonly worker: RunningRole;
  readonly postmaster: number;
  /** Whether the log has events that some read model has not. */
  isBehind(): Promise<boolean>;
}

/** Lets events wait while the worker cannot see them, then measures until it is done with them. */
export async function processBacklog(bench: WorkerBench, sites: RecordedSites, events: number): Promise<Backlog> {
  const { owner, keyring, worker, postmaster } = bench;
  await settled(bench);
  const client = await owner.connect();
  try {
    // The worker sees the rows when all of them are committed.
    await client.query('begin');
    await recordManyConsents(client, keyring, sites, events);
    const [cpu, postgres] = [await worker.cpuMs(), await postgresCpuMs(postmaster)];
    const started = performance.now();
    await client.query('commit');
    await settled(bench);
    const ms = performance.now() - started;
    const used = (before: number | null, after: number | null): number =>
      (after ?? Number.NaN) - (before ?? Number.NaN);
    return {
      events,
      ms,
      workerCpuMs: used(cpu, await worker.cpuMs()),
      postgresCpuMs: used(postgres, await postgresCpuMs(postmaster)),
    };
  } finally {
    client.release();
  }
}

const stateRow = z.tuple([z.object({ waiting: z.boolean(), unsealed: z.boolean() })]);
const behindRow = z.tuple([z.object({ behind: z.boolean() })]);

/** Resolves when no event waits, every event of a site is sealed, and every read model is at the end. */
async function settled({ owner, isBehind }: WorkerBench): Promise<void> {
  const started = performance.now();
  while (performance.now() - started < MAX_MS) {
    const { rows } = await owner.query(
      `select exists (select from event_log.waiting) as waiting,
              (select coalesce(sum(revision + 1), 0) from event_log.logged_streams)
                > (select coalesce(sum(revision + 1), 0) from sealed_streams) as unsealed`,
    );
    const [{ waiting, unsealed }] = stateRow.parse(rows);
    if (!waiting && !unsealed && !(await isBehind())) return;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  throw new Error('the worker did not finish the backlog');
}

async function isBehindPostgres(owner: pg.Pool): Promise<boolean> {
  const { rows } = await owner.query(
    `select exists (select from projection_generations g
                     where g.position::bigint < (select max(position + count - 1) from event_log.runs)) as behind`,
  );
  return behindRow.parse(rows)[0].behind;
}

/** Copies the row of a site, without what its visitors need to consent. */
async function insertSites(owner: pg.Pool, site: SiteFixture, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => randomUUID());
  await owner.query(
    `insert into sites (id, tenant_id, name, domain, verified_at, site_config_hash)
     select n.id, s.tenant_id, s.name, n.id || '.example', s.verified_at, s.site_config_hash
       from sites s, unnest($2::uuid[]) as n (id) where s.id = $1`,
    [site.siteId, ids],
  );
  return ids;
}

async function insertRate(url: string): Promise<number> {
  const bare = await BareInsert.open(url, EVENTS);
  try {
    return (EVENTS / (await bare.run(BARE_ROWS))) * 1000;
  } finally {
    await bare.end();
  }
}

export function rateOf({ events, ms }: Backlog): number {
  return (events / ms) * 1000;
}

export function describeBacklog(run: Backlog): string {
  const each = (ms: number): string => `${((ms * 1000) / run.events).toFixed(0)} µs`;
  return (
    `${Math.round(rateOf(run))} events/s; processor time of each: worker ${each(run.workerCpuMs)}, ` +
    `PostgreSQL ${each(run.postgresCpuMs)}`
  );
}
