import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import * as z from 'zod';
import { figures, secondsSince } from '../support/figures.js';
import { titleNeeding } from '../support/missing-tools.js';
import { missingForPatroni, PatroniCluster, type PatroniNode } from '../support/patroni.js';
import { PgBouncer, pgbouncerPath } from '../support/pgbouncer.js';
import { type RunningService, TestInstallation } from '../support/running-service.js';
import { type SeededTenant, seedTenant } from '../support/seeded-demo.js';
import { SteadyLoad } from '../support/steady-load.js';
import { until } from '../support/wait.js';

const missing = missingForPatroni();
const CASES = 4;
/** `ENGINES=one`, which `.ci/run` sets, runs one of the cases, chosen by the commit; else all of them run. */
const chosen = process.env.ENGINES === 'one' ? Number.parseInt(process.env.TEST_SEED ?? '0', 16) % CASES : null;
const isLeftOut = (one: number): boolean => chosen !== null && chosen !== one;

const CASE_MS = 300_000;
const PER_SECOND = 20;
const Tokens = z.array(z.object({ token: z.string() }));
const Ready = z.object({ status: z.string() });

/** The service on a cluster, with callers who repeat what is not answered with 202. */
class Engines {
  private constructor(
    readonly cluster: PatroniCluster,
    readonly service: RunningService,
    readonly load: SteadyLoad,
    private readonly installation: TestInstallation,
  ) {}

  /** @param throughPooler whether PgBouncer is between the service and HAProxy */
  static async start(options: { readonly endsSessions: boolean; readonly throughPooler?: true }): Promise<Engines> {
    const cluster = await PatroniCluster.start(options);
    onTestFinished(() => cluster.close(), CASE_MS);
    let { url } = cluster;
    if (options.throughPooler === true) {
      const pooler = await PgBouncer.start(url, {
        pool_mode: 'session',
        default_pool_size: 100,
        server_login_retry: 1,
        ignore_startup_parameters: 'options,extra_float_digits',
      });
      onTestFinished(() => pooler.stop());
      url = pooler.url;
    }
    const installation = await TestInstallation.make({ DATABASE_URL: url });
    onTestFinished(() => installation.remove());
    const service = await installation.start();
    onTestFinished(async () => {
      await service.kill();
    });
    const seed: SeededTenant = await seedTenant(installation, '--rate-limit', '1000000');
    const load = new SteadyLoad({ url: () => service.url, seed, perSecond: PER_SECOND, repeats: true });
    const engines = new Engines(cluster, service, load, installation);
    await until(() => load.accepted.length > PER_SECOND);
    return engines;
  }

  /**
   * Lets the leader fail, and waits until the other node leads and the service is ready.
   * @returns both nodes, and the seconds until the other one led and until the service was ready
   */
  async failOver(fail: (leader: PatroniNode) => Promise<void>) {
    const old = await this.cluster.leader();
    const next = this.cluster.nodes.find((node) => node !== old);
    if (next === undefined) throw new Error('the cluster has one node');
    const from = performance.now();
    await fail(old);
    await until(() => next.leads());
    const ledAfter = secondsSince(from);
    const before = this.load.accepted.length;
    await until(() => this.load.accepted.length > before + PER_SECOND);
    await until(() => this.isReady());
    return { old, next, ledAfter, readyAfter: secondsSince(from) };
  }

  /** Longest time between two accepted consents while `work` runs, in seconds. */
  async outageOf<T>(work: () => Promise<T>): Promise<{ readonly outage: number; readonly result: T }> {
    let longest = 0;
    let last = performance.now();
    let count = this.load.accepted.length;
    const timer = setInterval(() => {
      const now = performance.now();
      longest = Math.max(longest, now - last);
      if (this.load.accepted.length === count) return;
      count = this.load.accepted.length;
      last = now;
    }, 20);
    try {
      const result = await work();
      return { outage: secondsSince(0, longest), result };
    } finally {
      clearInterval(timer);
    }
  }

  async isReady(): Promise<boolean> {
    const response = await fetch(`${this.service.url}/readyz`).catch(() => null);
    return response !== null && Ready.parse(await response.json()).status === 'ready';
  }

  /** Ends the load, and expects each accepted consent once in the log of the leader, and in the ledger. */
  async expectKept(): Promise<{ readonly accepted: number; readonly refused: number }> {
    await this.load.stop();
    const { accepted, refused } = this.load;
    const leader = await this.cluster.leader();
    await until(async () => (await count(leader, 'event_log.waiting')) === 0);
    await until(
      async () =>
        (await count(
          leader,
          `event_log.log e where stream like 'consents-%' and not exists (select from leaves l where l.event_id = e.id)`,
        )) === 0,
    );
    const logged = Tokens.parse(
      await query(
        leader,
        `select 'ct_' || replace(id::text, '-', '') as token from event_log.events where type like 'ConsentRecorded%'`,
      ),
    ).map(({ token }) => token);
    expect(logged.toSorted()).toEqual(accepted.toSorted());
    const audit = await this.installation.run('audit');
    expect(audit, audit.stdout).toMatchObject({ exitCode: 0 });
    return { accepted: accepted.length, refused: refused.length };
  }
}

async function query(node: PatroniNode, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: node.url });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function count(node: PatroniNode, from: string): Promise<number> {
  const [row] = z
    .array(z.object({ n: z.coerce.number() }))
    .parse(await query(node, `select count(*) as n from ${from}`));
  return row?.n ?? 0;
}

describe.skipIf(missing.length > 0)(
  titleNeeding(missing.join(', '), missing.length === 0, 'Patroni with synchronous replication, under load'),
  () => {
    test.skipIf(isLeftOut(0))('loses and doubles nothing when the node of the leader is killed', async () => {
      const engines = await Engines.start({ endsSessions: true });
      const { outage, result } = await engines.outageOf(() => engines.failOver((leader) => leader.signal('SIGKILL')));
      const kept = await engines.expectKept();
      figures('node killed', { outage, ledAfter: result.ledAfter, readyAfter: result.readyAfter, ...kept });
    });

    test.skipIf(isLeftOut(1))(
      'loses and doubles nothing when the node of the leader hangs, and lives again as a standby',
      async () => {
        const engines = await Engines.start({ endsSessions: true });
        const { outage, result } = await engines.outageOf(async () => {
          const over = await engines.failOver((leader) => leader.signal('SIGSTOP'));
          await over.old.signal('SIGCONT');
          await until(() => over.old.isSynchronous());
          return over;
        });
        const kept = await engines.expectKept();
        figures('node hangs', { outage, ledAfter: result.ledAfter, readyAfter: result.readyAfter, ...kept });
      },
    );

    test.skipIf(isLeftOut(2))(
      'uses one server only while the former leader lives without Patroni, and sessions to it stay open',
      async () => {
        const engines = await Engines.start({ endsSessions: false });
        const { outage, result } = await engines.outageOf(async () => {
          const over = await engines.failOver((leader) => leader.signal('SIGSTOP'));
          await over.old.signal('SIGCONT', 'server');
          expect(await count(over.old, 'pg_stat_activity where pg_is_in_recovery()')).toBe(0);
          // Its standby is gone: what it commits waits for ever, and is told to no caller.
          const client = new pg.Client({ connectionString: over.old.url });
          client.on('error', () => undefined);
          await client.connect();
          const commit = client.query('create table of_a_former_leader ()').catch(() => 'ended');
          expect(await Promise.race([commit, sleep(2_000, 'waits')])).toBe('waits');
          await client.end();
          const before = await count(over.old, 'event_log.events');
          const accepted = engines.load.accepted.length;
          await sleep(5_000);
          expect(engines.load.accepted.length).toBeGreaterThan(accepted + PER_SECOND);
          expect(await count(over.old, 'event_log.events')).toBe(before);
          return over;
        });
        const kept = await engines.expectKept();
        figures('former leader lives', { outage, ledAfter: result.ledAfter, readyAfter: result.readyAfter, ...kept });
      },
    );

    const hasPooler = pgbouncerPath !== undefined;
    test.skipIf(isLeftOut(3) || !hasPooler)(
      titleNeeding('pgbouncer', hasPooler, 'loses and doubles nothing through PgBouncer when the server crashes'),
      async () => {
        const engines = await Engines.start({ endsSessions: true, throughPooler: true });
        const { outage, result } = await engines.outageOf(() => engines.failOver((leader) => leader.signal('SIGKILL')));
        const kept = await engines.expectKept();
        figures('node killed, with PgBouncer', { outage, readyAfter: result.readyAfter, ...kept });
      },
    );
  },
);
