import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { LOG_IDENTITY_STREAM } from '../../../schemas/events/streams.js';
import { createEventStoreDbEventLog } from '../../../src/pipeline/event-log/eventstoredb/eventstoredb-event-log.js';
import { embeddedDatabaseUrl } from '../../support/embedded-database.js';
import { type RunningService, TestInstallation } from '../../support/running-service.js';
import { type SeededTenant, seedTenant } from '../../support/seeded-demo.js';
import { SteadyLoad } from '../../support/steady-load.js';
import { until } from '../../support/wait.js';
import { expectKept } from '../kept.js';
import { OperatedCluster } from './operated-cluster.js';

const url = process.env.EVENTSTORE_CLUSTER_URL;
const command = process.env.EVENTSTORE_CLUSTER_COMMAND;

const PER_SECOND = 50;
const OUTAGE_MS = 20_000;
const SAMPLE_EVERY_MS = 50;
/**
 * From the leader's return to the first relayed event, at most: an append without an answer ends after
 * 10 s, and the pause before the next is 5 s at most.
 */
const MOVES_WITHIN_MS = 30_000;
/** Events under way while the service is healthy. */
const NO_BACKLOG = PER_SECOND;

const Progress = z.tuple([z.object({ relayed: z.coerce.number(), waiting: z.int() })]);

if (url === undefined || command === undefined) {
  console.log('SKIPPED: the cluster tests need EVENTSTORE_CLUSTER_URL and EVENTSTORE_CLUSTER_COMMAND.');
  describe.skip('a cluster of EventStoreDB (EVENTSTORE_CLUSTER_URL is not set)', () => {
    it('loses no consent whatever its nodes do', () => undefined);
  });
} else {
  describeCluster(new OperatedCluster(url, command));
}

function describeCluster(cluster: OperatedCluster): void {
  describe('serve under load, while nodes of the EventStoreDB cluster fail', () => {
    let installation: TestInstallation;
    let service: RunningService;
    let worker: number | null;
    let seed: SeededTenant;
    let database: pg.Client;
    let load: SteadyLoad;

    beforeAll(async () => {
      await expectNew(cluster);
      installation = await TestInstallation.makeEmbedded({ EVENTSTORE_URL: cluster.url });
      service = await installation.start();
      seed = await seedTenant(installation, '--rate-limit', '1000000');
      database = new pg.Client({ connectionString: await embeddedDatabaseUrl(installation.dataDir) });
      await database.connect();
      load = new SteadyLoad({ url: () => service.url, seed, perSecond: PER_SECOND, repeats: false });
      await drained();
      worker = service.workerPid();
    });
    afterAll(async () => {
      await load?.stop();
      // The embedded PostgreSQL runs on while it has another client.
      await database?.end();
      expect(await service?.stop()).toBe(0);
      await installation?.remove();
    });

    async function progress(): Promise<z.infer<typeof Progress>[0]> {
      const { rows } = await database.query(
        `select (select coalesce(sum(revision + 1), 0) from event_log.logged_streams)::text as relayed,
                (select coalesce(sum(count), 0) from event_log.waiting)::int as waiting`,
      );
      return Progress.parse(rows)[0];
    }

    /** Resolves when the backlog is gone. */
    async function drained(): Promise<void> {
      let relayed = 0;
      for (;;) {
        const now = await progress();
        if (now.waiting < NO_BACKLOG && relayed > 0 && now.relayed > relayed) return;
        relayed = now.relayed;
        await sleep(SAMPLE_EVERY_MS);
      }
    }

    /** Runs a fault, then waits for a leader and for the relay, and prints what was measured. */
    async function survives(name: string, strike: () => Promise<void>): Promise<void> {
      const start = performance.now();
      await strike();
      const struck = performance.now();
      await cluster.leader();
      const led = performance.now();
      const before = await progress();
      let now = before;
      while (now.relayed <= before.relayed) {
        await sleep(SAMPLE_EVERY_MS);
        now = await progress();
      }
      const moved = performance.now();
      await drained();
      const seconds = (from: number, to: number): string => `${((to - from) / 1_000).toFixed(1)} s`;
      console.log(
        `${name}: fault ${seconds(start, struck)}, then a leader after ${seconds(struck, led)}, ` +
          `the relay moves ${seconds(led, moved)} later with ${before.waiting} events waiting, ` +
          `and has no backlog after ${seconds(moved, performance.now())}`,
      );
      expect(moved - led).toBeLessThan(MOVES_WITHIN_MS);
      expect(load.refused).toEqual([]);
      expect(service.workerPid()).toBe(worker);
    }

    it('goes on after the leader is killed, twice', async () => {
      for (let round = 0; round < 2; round += 1) {
        const leader = await cluster.leader();
        await survives('leader killed', () => cluster.kill(leader));
        await cluster.start(leader);
        await sleep(5_000);
      }
    });

    it('accepts consents without a quorum, and relays them when it is back', async () => {
      await survives('two nodes away', async () => {
        const leader = await cluster.leader();
        const away = [leader, cluster.all.find((node) => node !== leader) ?? leader];
        await cluster.kill(...away);
        await sleep(OUTAGE_MS);
        await cluster.start(...away);
      });
    });

    it('accepts consents while every node restarts, and relays them afterwards', async () => {
      await survives('every node restarted', async () => {
        await cluster.kill(...cluster.all);
        await cluster.start(...cluster.all);
      });
    });

    it('has every consent once in the log, the read model and the ledger', async () => {
      await load.stop();
      await expectKept(installation, seed.site.id, load.accepted);
      console.log(
        `${load.accepted.length} consents accepted, ${load.refused.length} refused, ` +
          `slowest answer ${load.slowestMs.toFixed(0)} ms`,
      );
    });
  });
}

/** Another installation's events cannot be sealed with this one's keys. */
async function expectNew(cluster: OperatedCluster): Promise<void> {
  await cluster.leader();
  const log = createEventStoreDbEventLog(cluster.url);
  try {
    // A leader that was just elected refuses reads for a moment.
    await until(
      () =>
        log.ping().then(
          () => true,
          (): boolean => false,
        ),
      500,
    );
    if ((await log.lastRevision(LOG_IDENTITY_STREAM)) >= 0)
      throw new Error('the cluster is not new: another log began in it');
  } finally {
    await log.close();
  }
}
