import { createHmac, randomBytes } from 'node:crypto';
import pg from 'pg';
import * as z from 'zod';
import { CONSENT_RECORDED } from '../../../schemas/events/consent-recorded.js';
import { consentsStream } from '../../../schemas/events/streams.js';
import type { TimestampReport } from '../../../schemas/rfc3161/report.js';
import type { PreparedConsent } from '../../../src/pipeline/admission/prepare-consent.js';
import { recoverLog } from '../../../src/pipeline/relay/recover-log.js';
import { describe } from '../../../src/platform/background/part.js';
import { pause } from '../../../src/platform/background/waiting.js';
import { createPool } from '../../../src/platform/database/pool.js';
import { newEventId } from '../../../src/platform/event-ids.js';
import { blindIndex, recordKey, SEED_BYTES, sealOfKeyRow } from '../../../src/platform/keys/index.js';
import { createRandomPool } from '../../../src/platform/keys/record-encryption.js';
import type { SigningKey } from '../../../src/platform/keys/signing-key.js';
import { newConsent, testKeyring } from '../../pipeline/relay/pipeline.js';
import { seededRandom } from '../simulation/scheduler.js';
import { type Alteration, alterRow, restoreRow } from './alterations.js';
import { simulatedAuthorities } from './authorities.js';
import { MemoryJournal, SITE_KEY } from './erasing.js';
import { LogWatch } from './log-watch.js';
import { type MemoryLogData, MemoryLogServer, openMemoryLog } from './memory-log.js';
import type { CallFault, Disturbance, Plan, WorldFault } from './plan.js';
import { type Api, memoryHeadFile, runApi, runWorker, type SimulatedSite, type Surroundings } from './processes.js';
import { Scheduler, type SimulatedProcess } from './scheduler.js';
import { SimulatedClock } from './simulated-clock.js';
import { type Cluster, SimulatedConnection, SimulatedServer } from './simulated-server.js';

/** Final state of a history. */
export interface Outcome {
  /** The decisions, in order. */
  readonly trace: readonly string[];
  /** Rules that were broken; none: all hold. */
  readonly problems: readonly string[];
}

/** Sessions and values that a process of the simulation keeps between two histories. */
export interface Bench {
  /** Sessions of real servers, each with a database of its own: the leader, and its standby. */
  readonly leader: pg.Client;
  readonly standby: pg.Client;
  /** SQL that gives sequences their first values. */
  readonly reset: string;
  readonly sites: readonly SimulatedSite[];
  readonly key: SigningKey;
  readonly report: TimestampReport;
}

/** Beginning of every history. */
const BEGAN = Date.UTC(2026, 10, 26, 12);
/** A server that was left may be used for as long, until a process connects anew; and what faults add to it. */
const UNNOTICED_MS = 6_000;
const NOTICED_LATER_MS: Readonly<Partial<Record<Disturbance['fault'], number>>> = {
  refused: 5_000,
  'answer lost': 5_000,
  late: 21_000,
  'a worker hangs': 70_000,
  'the api hangs': 70_000,
};
/** A backend waits for an answer as long. */
const ANSWER_MS = 10_000;
/** A restarted process connects after this time. */
const RESTART_MS = 1_000;
/** Simulated time in which everything has to settle once nothing fails any more. */
const SETTLING_MS = 240_000;
/** Simulated time in which a ledger that lost its end must not go on. */
const REFUSING_MS = 20_000;
/** How often it is asked whether everything has settled. */
const LOOK_EVERY_MS = 2_000;
/** How often an operator runs a command again. */
const MOST_TRIES = 10;
const MOST_STEPS = 20_000;

const CALL_FAULTS: ReadonlySet<string> = new Set<CallFault>(['refused', 'answer lost', 'late', 'doubled']);

function isCallFault(fault: Disturbance['fault']): fault is CallFault {
  return CALL_FAULTS.has(fault);
}

interface Sent {
  readonly site: SimulatedSite;
  accepted: { readonly at: number; readonly server: string } | null;
}

/** Runs the history of a plan. */
export async function runHistory(plan: Plan, bench: Bench): Promise<Outcome> {
  const clock = new SimulatedClock(BEGAN);
  const systemRandom = Math.random;
  const SystemClient = pg.Client;
  clock.install();
  Math.random = seededRandom(plan.seed + 1);
  const history = new History(plan, bench, clock);
  Reflect.set(
    pg,
    'Client',
    class extends SimulatedConnection {
      constructor(config: pg.ClientConfig) {
        super(history.cluster, config);
      }
    },
  );
  try {
    return await history.run();
  } finally {
    Reflect.set(pg, 'Client', SystemClient);
    Math.random = systemRandom;
    clock.uninstall();
    await history.close();
  }
}

class History {
  readonly cluster: Cluster;
  readonly #scheduler: Scheduler;
  readonly #log = new MemoryLogServer();
  readonly #journal = new MemoryJournal();
  readonly #watch: LogWatch;
  readonly #surroundings: Surroundings;
  readonly #processes = new Map<string, SimulatedProcess>();
  readonly #workers = new Set<SimulatedProcess>();
  readonly #servers: SimulatedServer[] = [];
  readonly #sent = new Map<string, Sent>();
  readonly #problems: string[] = [];
  readonly #ends: string[] = [];
  readonly #random = createRandomPool();
  #alterations: Alteration[] = [];
  #alteredInBackup: readonly Alteration[] = [];
  readonly #damaged = new Set<string>();
  #world: readonly Disturbance[];
  #api: { process: SimulatedProcess; api: Api | null } | null = null;
  #started = 0;
  #logBackup: MemoryLogData | null = null;
  #leftAt: number | null = null;
  #isStopped = false;
  #formerTransactions = 0;
  /** Consents that a restore or a take-over took back. */
  readonly #mayBeLost = new Set<string>();
  #needsRecovery = false;

  constructor(
    private readonly plan: Plan,
    private readonly bench: Bench,
    private readonly clock: SimulatedClock,
  ) {
    const random = plan.isShuffled ? seededRandom(plan.seed) : () => 0;
    const callFaults = new Map<number, CallFault>();
    for (const { at, fault } of plan.disturbances) if (isCallFault(fault)) callFaults.set(at, fault);
    this.#world = plan.disturbances.filter(({ fault }) => !isCallFault(fault));
    this.#scheduler = new Scheduler(clock, random, (place) => callFaults.get(place) ?? null);
    this.#watch = new LogWatch(this.#log, (id) => this.#sent.has(id));
    const leader = new SimulatedServer(bench.leader, '7000000000000000001', '00000001');
    this.#servers.push(leader);
    this.cluster = {
      leader,
      clock,
      scheduler: this.#scheduler,
      processOf: (name) => {
        const found = this.#processes.get(name);
        if (found === undefined) throw new Error(`no process is called ${name}`);
        return found;
      },
    };
    this.#surroundings = {
      scheduler: this.#scheduler,
      log: this.#log,
      authorities: simulatedAuthorities(['one', 'two', 'three'], bench.report, (note) => this.#watch.noteStamped(note)),
      quorum: plan.quorum,
      key: bench.key,
      headFile: memoryHeadFile(),
      journal: plan.erasures === 0 ? null : this.#journal,
    };
  }

  async run(): Promise<Outcome> {
    await this.cluster.leader.open(this.bench.reset);
    this.#startAll();
    for (let consent = 0; consent < this.plan.consents; consent += 1) this.#arrive(consent);
    for (let erasure = 0; erasure < this.plan.erasures; erasure += 1) this.#askToErase(erasure);
    const lastFault = this.plan.disturbances.at(-1)?.at ?? 0;
    while (this.#scheduler.performed <= lastFault && this.#problems.length === 0) await this.#step();
    const isHealed = await this.#heal();
    if (isHealed) await this.#settle();
    for (const process of this.#processes.values()) this.#scheduler.bury(process);
    return { trace: this.#scheduler.trace, problems: [...this.#problems, ...this.#watch.problems] };
  }

  async close(): Promise<void> {
    for (const server of this.#servers) await server.close();
  }

  #startAll(): void {
    for (let worker = 0; worker < this.plan.workers; worker += 1) this.#startWorker();
    this.#startApi();
  }

  #newProcess(kind: string): SimulatedProcess {
    this.#started += 1;
    const process = { name: `${kind} ${this.#started}`, isDead: false, hangsUntil: 0 };
    this.#processes.set(process.name, process);
    return process;
  }

  #startWorker(): void {
    const process = this.#newProcess('worker');
    this.#workers.add(process);
    void runWorker(process, this.#surroundings).then((error) =>
      this.#onEnd(process, error, () => {
        this.#workers.delete(process);
        this.#startWorker();
      }),
    );
  }

  #startApi(): void {
    const process = this.#newProcess('api');
    const entry: { process: SimulatedProcess; api: Api | null } = { process, api: null };
    this.#api = entry;
    const onOpen = (api: Api | null): void => {
      entry.api = api;
    };
    void runApi(process, this.#surroundings, onOpen).then((error) =>
      this.#onEnd(process, error, () => this.#startApi()),
    );
  }

  /** A process that ended is started again, as an orchestrator does. */
  #onEnd(process: SimulatedProcess, error: unknown, restart: () => void): void {
    if (process.isDead) return;
    this.#ends.push(`${process.name}: ${describe(error)}`);
    this.#scheduler.trace.push(`${process.name} ends: ${describe(error)}`);
    this.#kill(process);
    setTimeout(() => {
      if (!this.#isStopped) restart();
    }, RESTART_MS);
  }

  #kill(process: SimulatedProcess): void {
    this.#scheduler.bury(process);
    for (const server of this.#servers)
      for (const connection of [...server.connections]) if (connection.isOf(process)) connection.breakOff();
  }

  /** A backend sends a consent until it is accepted. */
  #arrive(number: number): void {
    const place = Math.floor(Math.random() * this.bench.sites.length);
    const site = this.bench.sites[place];
    if (site === undefined) throw new Error('there is no site');
    setTimeout(() => void this.#send(site, number), Math.random() * this.plan.arrivalsMs);
  }

  async #send(site: SimulatedSite, number: number): Promise<void> {
    const idempotency = randomBytes(32);
    for (;;) {
      const api = this.#api?.api ?? null;
      const consent = this.#newConsent(site, number);
      this.#sent.set(consent.eventId, { site, accepted: null });
      const submitting = api?.submit(site, consent, idempotency).catch(() => null);
      const answer = await Promise.race([submitting ?? null, pause(ANSWER_MS).then(() => null)]);
      const sent = answer === null ? undefined : this.#sent.get(answer.eventId);
      if (answer !== null && sent !== undefined) {
        sent.accepted = { at: this.clock.now, server: answer.server };
        this.#scheduler.trace.push(`consent ${number} is accepted`);
        return;
      }
      await pause(1_000);
    }
  }

  /** A backend asks for an erasure until it is ordered. */
  #askToErase(number: number): void {
    const site = this.bench.sites[Math.floor(Math.random() * this.bench.sites.length)];
    const key = `erasure ${number}`;
    const ask = async (): Promise<void> => {
      for (;;) {
        const api = this.#api?.api ?? null;
        const asking = site === undefined ? undefined : api?.erase(site, `visitor ${number}`, key).then(() => true);
        const isOrdered = await Promise.race([asking?.catch(() => false) ?? false, pause(ANSWER_MS).then(() => false)]);
        if (isOrdered) return;
        await pause(1_000);
      }
    };
    setTimeout(() => void ask(), (0.3 + Math.random()) * this.plan.arrivalsMs);
  }

  #newConsent({ siteId }: SimulatedSite, number: number): PreparedConsent {
    const { now } = this.clock;
    const eventId = newEventId(now, this.#random);
    const seed = randomBytes(SEED_BYTES);
    const visitor = blindIndex(SITE_KEY, 'visitor', `visitor ${number % 3}`);
    const indexes = { visitor, email: null, phone: null, id_number: null };
    const { data } = newConsent(siteId, { event_id: eventId, created_at: new Date(now).toISOString() });
    const body = Buffer.from(data);
    return {
      eventId,
      body,
      proofHash: createHmac('sha256', SITE_KEY).update(body).digest(),
      recordDigest: createHmac('sha256', 'digest').update(body).digest(),
      createdAt: now,
      sealedBefore: now + 600_000,
      seed,
      indexes,
      keyRowSeal: sealOfKeyRow(recordKey(SITE_KEY, seed, eventId), indexes),
      tokenId: null,
      attachments: [],
    };
  }

  async #step(): Promise<void> {
    const due = this.#world.filter(({ at }) => at <= this.#scheduler.performed);
    this.#world = this.#world.slice(due.length);
    for (const { fault, choice } of due) {
      await this.#scheduler.settle();
      if (isCallFault(fault)) continue;
      if (await this.#faults[fault](choice)) this.#scheduler.trace.push(fault);
    }
    await this.#scheduler.step();
    this.#watch.look();
    this.#lookAtFormer();
  }

  /** Each returns whether the fault could happen. */
  readonly #faults: Readonly<Record<WorldFault, (choice: number) => boolean | Promise<boolean>>> = {
    'a worker is killed': (choice) => this.#killWorker(choice),
    'a worker hangs': (choice) => this.#hang(this.#workerOf(choice), choice),
    'the api hangs': (choice) => this.#hang(this.#api?.process, choice),
    'the database server restarts': () => this.#restartServer(),
    'the database is backed up': () => this.#backUp(),
    'the database goes back in time': () => this.#goBack(),
    'the database and the log are backed up': async () => (await this.#backUp()) && this.#backUpLog(),
    'the database and the log go back in time': () => this.#goBackTogether(),
    'a standby takes over': (choice) => this.#takeOver(choice),
    'a row is wrong': (choice) => this.#alterRow(choice),
    'the rows are right again': () => this.#restoreRows(),
    'the log is backed up': () => this.#backUpLog(),
    'the log goes back in time': () => this.#restoreLog(),
    'another program writes to the log': (choice) => this.#writeForeign(choice),
    'the log loses events': (choice) => this.#loseEvents(choice),
    'a stream is deleted': (choice) => this.#deleteStream(choice),
    'the streams are there again': () => this.#undelete(),
    'an operator recovers the log': () => this.#recover(),
    'time passes': () => true,
  };

  #workerOf(choice: number): SimulatedProcess | undefined {
    return [...this.#workers][Math.floor(choice * this.#workers.size)];
  }

  #killWorker(choice: number): boolean {
    const worker = this.#workerOf(choice);
    if (worker === undefined) return false;
    this.#workers.delete(worker);
    this.#kill(worker);
    this.#startWorker();
    return true;
  }

  #hang(process: SimulatedProcess | undefined, choice: number): boolean {
    if (process === undefined || this.#isInTransaction(process)) return false;
    const ms = 5_000 + choice * 60_000;
    process.hangsUntil = this.clock.now + ms;
    // Time passes even if nothing else waits.
    setTimeout(() => undefined, ms);
    return true;
  }

  #restartServer(): boolean {
    this.cluster.leader.cut();
    return true;
  }

  async #backUp(): Promise<boolean> {
    const { leader } = this.cluster;
    if (leader.owner !== null || leader.hasBackup) return false;
    await leader.backUp();
    this.#alteredInBackup = [...this.#alterations];
    return true;
  }

  async #goBack(): Promise<boolean> {
    const { leader } = this.cluster;
    if (!leader.hasBackup) return false;
    this.#alterations = [...this.#alteredInBackup];
    await leader.goBack();
    this.#loseWhatTheLogLacks();
    this.#needsRecovery = true;
    return true;
  }

  async #goBackTogether(): Promise<boolean> {
    if (this.#logBackup === null || !this.cluster.leader.hasBackup) return false;
    // The service is stopped for it, as docs/restore.md says.
    await this.#restartAll(async () => {
      this.#restoreLog();
      await this.#goBack();
    });
    return true;
  }

  async #alterRow(choice: number): Promise<boolean> {
    const { leader } = this.cluster;
    const alteration = leader.owner === null ? await alterRow(leader, choice) : null;
    if (alteration === null) return false;
    this.#alterations.push(alteration);
    this.#scheduler.trace.push(alteration.what);
    return true;
  }

  async #restoreRows(): Promise<boolean> {
    const { leader } = this.cluster;
    if (leader.owner !== null) return false;
    for (const alteration of this.#alterations.splice(0)) await restoreRow(leader, alteration);
    return true;
  }

  #backUpLog(): boolean {
    this.#logBackup = this.#log.copy();
    return true;
  }

  #restoreLog(): boolean {
    if (this.#logBackup === null) return false;
    this.#log.restore(this.#logBackup);
    this.#watch.lookAgain();
    this.#needsRecovery = true;
    return true;
  }

  #writeForeign(choice: number): boolean {
    const stream = this.#streamOf(choice);
    this.#damaged.add(stream);
    this.#log.writeForeign(stream, 'OrderPlaced');
    return true;
  }

  #loseEvents(choice: number): boolean {
    const stream = this.#streamOf(choice);
    if (this.#log.of(stream).length < 2) return false;
    this.#damaged.add(stream);
    this.#log.removeFirst(stream, 1);
    this.#watch.lookAgain();
    return true;
  }

  #deleteStream(choice: number): boolean {
    this.#log.deleteStream(this.#streamOf(choice));
    this.#needsRecovery = true;
    return true;
  }

  #undelete(): boolean {
    this.#log.undelete();
    return true;
  }

  #streamOf(choice: number): string {
    return consentsStream(this.bench.sites[Math.floor(choice * this.bench.sites.length)]?.siteId ?? '');
  }

  #isInTransaction(process: SimulatedProcess): boolean {
    return this.#servers.some(({ owner }) => owner?.isOf(process) === true);
  }

  /** Notes the consents that the log does not have: the database lost them. */
  #loseWhatTheLogLacks(): void {
    const logged = new Set(this.#log.events.map(({ id }) => id));
    for (const id of this.#sent.keys()) if (!logged.has(id)) this.#mayBeLost.add(id);
  }

  /** The standby takes over, perhaps without the last transactions. The former leader lives on. */
  async #takeOver(choice: number): Promise<boolean> {
    const { leader } = this.cluster;
    if (leader.owner !== null || this.#servers.length > 1) return false;
    const lag = Math.floor(choice * 4);
    const standby = new SimulatedServer(this.bench.standby, '7000000000000000001', '00000002');
    this.#servers.push(standby);
    await standby.open(this.bench.reset);
    await standby.replay(leader.journal.slice(0, Math.max(0, leader.journal.length - lag)));
    this.cluster.leader = standby;
    this.#formerTransactions = leader.journal.length;
    this.#leftAt = this.clock.now;
    if (lag > 0) this.#loseWhatTheLogLacks();
    // The former leader goes on until it is noticed: the log may get more than the standby knows.
    this.#needsRecovery = true;
    return true;
  }

  /** Ends the faults. @returns whether everything has to settle now */
  async #heal(): Promise<boolean> {
    if (this.#problems.length > 0) return false;
    this.#world = [];
    const { now } = this.clock;
    for (const process of this.#processes.values()) {
      // One of several workers that hangs for good holds up nothing.
      const isSpare = this.#workers.has(process) && this.#workers.size > 1 && process.hangsUntil > now;
      process.hangsUntil = isSpare ? Number.POSITIVE_INFINITY : 0;
    }
    const { leader } = this.cluster;
    for (let step = 0; leader.owner !== null && step < 100; step += 1) await this.#step();
    for (const alteration of this.#alterations.splice(0)) await restoreRow(leader, alteration);
    this.#log.undelete();
    if (this.#needsRecovery) await this.#recover();
    if (((await this.#surroundings.headFile.read())?.size ?? 0) <= this.#watch.batches) return true;
    // The ledger lost its end. Nothing may continue it before an operator accepts that.
    const until = this.clock.now + REFUSING_MS;
    while (this.clock.now < until && this.#watch.problems.length === 0) await this.#step();
    return false;
  }

  /** Stops the service, runs `log recover` until it succeeds, and starts it again. */
  async #recover(): Promise<boolean> {
    await this.#restartAll(async () => {
      for (let tries = 1; tries <= MOST_TRIES; tries += 1) if (await this.#tryToRecover()) return;
      this.#problems.push('log recover does not succeed');
    });
    this.#needsRecovery = false;
    this.#watch.lookAgain();
    return true;
  }

  async #restartAll(work: () => Promise<void>): Promise<void> {
    this.#isStopped = true;
    for (const process of this.#processes.values()) this.#kill(process);
    this.#workers.clear();
    this.#api = null;
    for (const server of this.#servers.splice(0)) {
      if (server === this.cluster.leader) this.#servers.push(server);
      else await server.close();
    }
    await work();
    this.#isStopped = false;
    this.#startAll();
  }

  /** @returns whether the command succeeded */
  async #tryToRecover(): Promise<boolean> {
    const operator = this.#newProcess('operator');
    const db = createPool({
      url: 'postgresql://simulated@127.0.0.1/simulated',
      role: 'consent_ledger_worker',
      applicationName: operator.name,
      maxConnections: 3,
      statementTimeoutMs: 30_000,
      onIdleError: () => undefined,
    });
    const lost = await this.#lostKeys();
    let end: string | null = null;
    void recoverLog(db, openMemoryLog(this.#log), testKeyring, this.#journal.erased).then(
      ({ lostKeys }) => {
        end = 'done';
        const counted = lostKeys.reduce((sum, { records }) => sum + records, 0);
        if (counted !== lost) this.#problems.push(`log recover counts ${counted} lost keys of ${lost}`);
      },
      (error: unknown) => {
        end = describe(error);
      },
    );
    for (let step = 0; end === null && step < MOST_STEPS; step += 1) {
      await this.#scheduler.step();
      this.#watch.look();
    }
    this.#kill(operator);
    this.#scheduler.trace.push(`log recover: ${end}`);
    return end === 'done';
  }

  /** Records that only the log has, and whose keys are gone with the database. */
  async #lostKeys(): Promise<number> {
    const { leader } = this.cluster;
    const known = new Map(
      KnownRows.parse(await leader.change('select stream, revision from event_log.logged_streams')).map(
        ({ stream, revision }) => [stream, revision],
      ),
    );
    const ids = this.bench.sites.flatMap(({ siteId }) => {
      const stream = consentsStream(siteId);
      const rest = this.#log.of(stream).filter(({ revision }) => revision > (known.get(stream) ?? -1));
      const foreign = rest.findIndex(({ data }) => data.length === 0);
      const consents = rest
        .slice(0, foreign < 0 ? rest.length : foreign)
        .filter(({ type }) => type === CONSENT_RECORDED);
      return consents.map(({ id }) => id).filter((id) => !this.#journal.erased.has(id));
    });
    const kept = await leader.change(
      `select from unnest($1::uuid[]) as listed (id) where exists (select from record_keys k where k.event_id = id)
          or exists (select from erased_records e where e.event_id = id)`,
      [ids],
    );
    return ids.length - kept.length;
  }

  async #settle(): Promise<void> {
    const until = this.clock.now + SETTLING_MS;
    let nextLook = this.clock.now;
    for (let step = 0; step < MOST_STEPS && this.clock.now < until; step += 1) {
      if (this.clock.now >= nextLook) {
        nextLook = this.clock.now + LOOK_EVERY_MS;
        if ((await this.#openWork()).length === 0 && (await this.#areErasuresDone())) return this.#compareAll();
      }
      await this.#step();
      if (this.#watch.problems.length > 0) return;
    }
    this.#problems.push(
      `it did not settle: ${(await this.#openWork()).join(', ')}; ${this.#ends.slice(-3).join('; ')}`,
    );
  }

  /** Whether every ordered erasure is carried out and announced. */
  async #areErasuresDone(): Promise<boolean> {
    if (this.plan.erasures === 0) return true;
    const { leader } = this.cluster;
    if (leader.owner !== null) return false;
    const open = await leader.change(
      `select id from erasure_requests where finished_at is null
        union all select event_id from erased_records where erasure_event_id is null`,
    );
    return open.length === 0;
  }

  /** Names the work that is not done yet. */
  async #openWork(): Promise<string[]> {
    const open: string[] = [];
    const logged = new Set(this.#log.visible().map(({ id }) => id));
    const waiting = [...this.#sent].filter(([, { accepted }]) => accepted !== null);
    if (waiting.length < this.plan.consents) open.push('consents that are not accepted');
    for (const [id, { site }] of waiting) {
      if (this.#mayBeLost.has(id) || this.#isLateOnFormerLeader(id)) continue;
      const stream = consentsStream(site.siteId);
      if (this.#damaged.has(stream)) continue;
      if (!logged.has(id)) open.push('a consent that is not in the log');
      else if ((this.#log.of(stream).at(-1)?.revision ?? -1) > this.#watch.sealedOf(stream))
        open.push('a consent that is not sealed');
    }
    if (this.#watch.stamped < this.#watch.batches) open.push('batches without a time stamp');
    return [...new Set(open)];
  }

  #isLateOnFormerLeader(id: string): boolean {
    const accepted = this.#sent.get(id)?.accepted ?? null;
    if (this.#leftAt === null || accepted === null || accepted.server === this.cluster.leader.identity) return false;
    return accepted.at >= this.#leftAt && !this.#mustBeLeft(accepted.at);
  }

  /** Whether every process must have noticed by now that another server leads. */
  #mustBeLeft(now: number): boolean {
    const later = this.plan.disturbances.reduce((sum, { fault }) => sum + (NOTICED_LATER_MS[fault] ?? 0), 0);
    return this.#leftAt !== null && now > this.#leftAt + UNNOTICED_MS + later;
  }

  /** Looks whether a process still changes a server that was left. */
  #lookAtFormer(): void {
    const former = this.#servers.find((server) => server !== this.cluster.leader);
    if (former === undefined) return;
    const { length } = former.journal;
    if (length > this.#formerTransactions && this.#mustBeLeft(this.clock.now))
      this.#problems.push('a process changes a server that was left');
    this.#formerTransactions = length;
  }

  /** Compares the tables with the log, once all has settled. */
  async #compareAll(): Promise<void> {
    const { leader } = this.cluster;
    for (let step = 0; leader.owner !== null && step < 100; step += 1) await this.#step();
    this.#watch.compare();
    const again = await leader.change('select from record_keys where event_id = any($1::uuid[])', [
      [...this.#journal.erased],
    ]);
    if (again.length > 0) this.#problems.push('an erased record has its key again');
    for (const [meaning, sql] of Object.entries(BROKEN)) {
      const rows = await leader.change(sql);
      if (rows.length > 0) this.#problems.push(`${meaning}: ${rows.length}`);
    }
  }
}

const KnownRows = z.array(z.object({ stream: z.string(), revision: z.int() }));

/** Each query finds what must not exist once all has settled. */
const BROKEN = {
  'a time stamp lacks what verifies it': `
    select t.size from checkpoint_tokens t cross join unnest(t.certificates || t.crls || t.ocsp) as d (sha256)
     where not exists (select from kept_evidence k where k.sha256 = d.sha256)`,
  'a size of the ledger has two checkpoints': 'select size from checkpoints group by size having count(*) > 1',
  'a leaf is there twice': `
    select stream, revision from leaves group by stream, revision having count(*) > 1`,
  'a person has a tag twice': `
    select person_tag from sealed_events where person_tag is not null group by person_tag having count(*) > 1`,
} as const;
