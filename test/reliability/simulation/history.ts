import type pg from 'pg';
import { vi } from 'vitest';
import { PROJECTIONS } from '../../../projections/index.js';
import { consentsStream } from '../../../schemas/events/streams.js';
import { compareProjection, createProjector, prepareProjections } from '../../../src/pipeline/projector/index.js';
import { createRelay } from '../../../src/pipeline/relay/relay.js';
import { createSealer } from '../../../src/pipeline/sealer/sealer.js';
import { createStamper } from '../../../src/pipeline/stamper/stamper.js';
import type { BackgroundPart } from '../../../src/platform/background/part.js';
import { createPool } from '../../../src/platform/database/pool.js';
import type { DatabaseRole } from '../../../src/platform/database/session.js';
import { createTimestampClient } from '../../../src/timestamping/client.js';
import {
  admit,
  count,
  idsInLog,
  newConsent,
  newSigner,
  type Pipeline,
  silent,
  startPipeline,
  testKeyring,
} from '../../pipeline/relay/pipeline.js';
import { lateSealing } from '../../support/late-sealing.js';
import { brokenRules, inFlight } from '../invariants.js';
import { simulatedAuthority, simulatedLog, simulatedPool } from './handles.js';
import { type Action, type Actor, Scheduler, seededRandom } from './scheduler.js';

/** Final state of a history. */
export interface History {
  readonly seed: number;
  /** The decisions, in order. */
  readonly trace: readonly string[];
  /** Rules that were broken; none: all hold. */
  readonly problems: readonly string[];
}

export interface Authority {
  readonly url: string;
  readonly trustAnchors: readonly Uint8Array[];
}

const SITES = 3;
const CONSENTS = 12;
const WORKERS = 2;
const BLOCKED = `pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
/** Decisions with faults, and at most as many without until everything has settled. */
const FAULTY_STEPS = 400;
const MOST_STEPS = 20_000;
/** How often the database is asked whether everything has settled, in decisions. */
const LOOK_EVERY = 25;

/**
 * Runs the parts of two workers on a database of their own. The seed decides which call is performed next
 * and how it fails, when consents arrive, which worker is killed, and whether locks protect the parts
 * from each other.
 */
export async function runHistory(seed: number, authority: Authority): Promise<History> {
  const pipeline = await startPipeline();
  // Makes the functions that take every lock.
  await pipeline.newPoolWithoutLocks();
  const random = seededRandom(seed);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'] });
  vi.spyOn(Math, 'random').mockImplementation(seededRandom(seed + 1));
  const scheduler = new Scheduler({
    random,
    advanceClock: async () => void (await vi.advanceTimersToNextTimerAsync()),
    blockedCalls: () => count(pipeline.owner, BLOCKED),
  });
  const simulation = new Simulation(pipeline, scheduler, random, authority);
  try {
    const problems = await simulation.run();
    return { seed, trace: scheduler.trace, problems };
  } finally {
    vi.mocked(Math.random).mockRestore();
    vi.useRealTimers();
    await simulation.close();
    await pipeline.close();
  }
}

class Simulation {
  readonly #accepted = new Map<string, string[]>();
  readonly #workers: Actor[] = [];
  readonly #failures: string[] = [];
  readonly #pools: pg.Pool[] = [];
  readonly #signer = newSigner();
  #started = 0;
  #left = CONSENTS;

  constructor(
    private readonly pipeline: Pipeline,
    private readonly scheduler: Scheduler,
    private readonly random: () => number,
    private readonly authority: Authority,
  ) {
    for (let site = 0; site < SITES; site += 1) this.#accepted.set(`00000000-0000-4000-8000-00000000000${site}`, []);
  }

  async run(): Promise<readonly string[]> {
    const { pipeline, scheduler, random } = this;
    await prepareProjections(pipeline.projections, PROJECTIONS);
    const areLocked = random() < 0.7;
    scheduler.faultRate = [0, 0.02, 0.05, 0.1][Math.floor(random() * 4)] ?? 0;
    for (let worker = 0; worker < WORKERS; worker += 1) this.#start(areLocked);
    for (let step = 0; step < FAULTY_STEPS; step += 1) {
      const actions = [...this.#arrival(), ...(random() < 0.01 ? [this.#crash(areLocked)] : [])];
      await scheduler.step(actions);
    }
    scheduler.faultRate = 0;
    while (this.#left > 0) await scheduler.step(this.#arrival());
    const isSettled = await this.#settle();
    for (const worker of this.#workers) scheduler.bury(worker);
    vi.useRealTimers();
    await this.close();
    return [...this.#failures, ...(isSettled ? [] : ['it did not settle']), ...(await this.#brokenRules())];
  }

  #arrival(): Action[] {
    if (this.#left === 0) return [];
    return [
      {
        what: 'a consent arrives',
        run: async () => {
          this.#left -= 1;
          const sites = [...this.#accepted];
          const [site, ids] = sites[Math.floor(this.random() * sites.length)] ?? ['', []];
          const consent = newConsent(site);
          await admit(this.pipeline.owner, site, [consent]);
          ids.push(consent.id);
        },
      },
    ];
  }

  #crash(areLocked: boolean): Action {
    return {
      what: 'a worker is killed',
      run: async () => {
        const [worker] = this.#workers.splice(Math.floor(this.random() * this.#workers.length), 1);
        if (worker === undefined) return;
        this.scheduler.bury(worker);
        await this.pipeline.owner.query(
          'select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = current_database() and application_name = $1',
          [worker.name],
        );
        this.#start(areLocked);
      },
    };
  }

  /** Starts relay, projector, sealer and stamper of one worker. */
  #start(areLocked: boolean): void {
    const { pipeline, scheduler } = this;
    this.#started += 1;
    const actor: Actor = { name: `worker ${this.#started}`, isDead: false };
    this.#workers.push(actor);
    const open = (role: DatabaseRole): pg.Pool =>
      simulatedPool(this.#open(role, actor.name, areLocked), pipeline.owner, scheduler, actor);
    const db = open('consent_ledger_worker');
    const projections = open('consent_ledger_projections');
    const eventLog = simulatedLog(pipeline.eventLog, scheduler, actor);
    const { url, trustAnchors } = this.authority;
    const real = createTimestampClient({ authorities: [url], trustAnchors, backOff: { firstMs: 20, longestMs: 50 } });
    const shared = { db, eventLog, logger: silent };
    const parts: readonly BackgroundPart[] = [
      createRelay({ ...shared, keyring: testKeyring, retentionMs: 3_600_000, maxEvents: 4 }),
      createProjector({ ...shared, db: projections, projections: PROJECTIONS }),
      createSealer({ ...shared, keyring: testKeyring, signer: this.#signer, limits: { maxLeaves: 3, maxAgeMs: 50 } }),
      createStamper({
        ...shared,
        signer: this.#signer,
        client: simulatedAuthority(real, scheduler, actor),
        quorum: 1,
        trustAnchors,
        minIntervalMs: 200,
      }),
    ];
    const never = new AbortController().signal;
    for (const part of parts)
      part.run(never).catch((error: unknown) => this.#failures.push(`${part.name} ended: ${String(error)}`));
  }

  #open(role: DatabaseRole, applicationName: string, areLocked: boolean): pg.Pool {
    const pool = createPool({
      url: this.pipeline.url,
      role,
      applicationName,
      maxConnections: 12,
      statementTimeoutMs: 30_000,
      onIdleError: () => undefined,
      transactions: lateSealing().hooks,
      // Every lock seems free there, as after an unnoticed loss.
      sessionSteps: areLocked ? [] : [{ sql: 'set search_path = no_locks, pg_catalog, public' }],
    });
    this.#pools.push(pool);
    return pool;
  }

  /** Ends every session of the workers. */
  async close(): Promise<void> {
    const { owner } = this.pipeline;
    await owner.query(
      `select pg_terminate_backend(pid, 5000) from pg_stat_activity
        where datname = current_database() and application_name like 'worker %'`,
    );
    // A pool waits for connections that a dead worker never returns.
    for (const pool of this.#pools.splice(0)) void pool.end();
  }

  async #settle(): Promise<boolean> {
    for (let step = 0; step < MOST_STEPS; step += 1) {
      if (step % LOOK_EVERY === 0 && (await inFlight(this.pipeline.owner)) === 0) return true;
      await this.scheduler.step([]);
    }
    return false;
  }

  async #brokenRules(): Promise<string[]> {
    const { owner, projections, eventLog } = this.pipeline;
    const problems = await brokenRules(owner);
    for (const [site, ids] of this.#accepted) {
      const logged = await idsInLog(eventLog, consentsStream(site));
      if (logged.toSorted().join() !== ids.toSorted().join())
        problems.push('the log does not have the accepted consents of a site once');
    }
    for (const projection of PROJECTIONS) {
      const { comparison } = await compareProjection({ db: projections, eventLog, projection, isFollowed: true });
      if (comparison === null || !comparison.every(({ equal }) => equal))
        problems.push(`the read model ${projection.name} differs from a replay`);
    }
    return problems;
  }
}
