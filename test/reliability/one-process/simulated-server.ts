import { EventEmitter } from 'node:events';
import type pg from 'pg';
import type { Scheduler, SimulatedProcess } from './scheduler.js';
import type { SimulatedClock } from './simulated-clock.js';

type Callback = (error: Error | null, result?: unknown) => void;

/** A statement, as it can be executed again on another server. */
interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
  readonly name?: string | undefined;
}

/** The rows of a session that each connection begins with. */
const NOTHING = { rows: [], rowCount: 0 } as const;
const WRITES =
  /\b(?:insert|update|delete|event_log\.(?:put|sequence|relayed|append|rebase)|admit_group|create|drop|truncate)\b/i;

/** SQL that gives every sequence its value again: no rollback does. */
const SEQUENCES = `
  select string_agg(format('select setval(%L, %s, %L)', schemaname || '.' || quote_ident(sequencename),
           coalesce(last_value, 1), last_value is not null), '; ') as sequences from pg_sequences`;

/**
 * A PostgreSQL server of the simulation: one session of a real one, in one transaction that is rolled back
 * at the end of the history. Each transaction of a process is a savepoint of it. So a history needs no
 * server of its own, and the server can go back in time. Transactions of two processes do not overlap.
 */
export class SimulatedServer {
  /** The connection whose transaction is open. */
  owner: SimulatedConnection | null = null;
  /** Transactions that were committed. A standby executes them, too. */
  journal: (readonly Statement[])[] = [];
  readonly connections = new Set<SimulatedConnection>();
  readonly #locks = new Map<string, SimulatedConnection>();
  #open: Statement[] = [];
  #backup: { readonly transactions: number; readonly sequences: string } | null = null;

  constructor(
    private readonly session: pg.Client,
    /** System identifier and time line. */
    readonly system: string,
    readonly timeline: string,
  ) {}

  get identity(): string {
    return `${this.system}/${this.timeline}`;
  }

  /** Position in its write-ahead log, in bytes. */
  get flushed(): number {
    return 0x1000000 + this.journal.length * 0x100;
  }

  /** Begins the history. @param reset SQL that gives sequences their first values */
  async open(reset: string): Promise<void> {
    await this.session.query(
      `rollback; ${reset}; set sim.system = '${this.system}'; set sim.timeline = '${this.timeline}'; begin; savepoint s`,
    );
  }

  /** Ends the history: nothing of it stays. */
  async close(): Promise<void> {
    await this.session.query('rollback');
  }

  /** Keeps the present state, to go back to it. */
  async backUp(): Promise<void> {
    await this.session.query('release savepoint s; savepoint backup; savepoint s');
    const { rows } = await this.session.query(SEQUENCES);
    this.#backup = { transactions: this.journal.length, sequences: String(rows[0]?.sequences) };
  }

  get hasBackup(): boolean {
    return this.#backup !== null;
  }

  /** Goes back to the state that was kept, with all of its connections cut. */
  async goBack(): Promise<void> {
    if (this.#backup === null) throw new Error('the server has no backup');
    this.cut();
    const { transactions, sequences } = this.#backup;
    await this.session.query(`rollback to savepoint backup; ${sequences}; savepoint s`);
    this.journal = this.journal.slice(0, transactions);
  }

  /** Ends every connection, as a restart does. */
  cut(): void {
    for (const connection of [...this.connections]) connection.breakOff();
  }

  /** Executes transactions of another server, as its standby. */
  async replay(journal: readonly (readonly Statement[])[]): Promise<void> {
    for (const statements of journal) {
      for (const statement of statements) await this.session.query({ ...statement, values: [...statement.values] });
    }
    this.journal = [...journal];
    await this.session.query('release savepoint s; savepoint s');
  }

  /** Executes a statement of an operator in a transaction of its own. */
  async change(text: string, values: readonly unknown[] = []): Promise<unknown[]> {
    const statement = { text, values };
    await this.session.query('release savepoint s; savepoint s');
    const { rows } = await this.session.query(text, [...values]);
    if (WRITES.test(text)) this.journal.push([statement]);
    return rows;
  }

  async begin(connection: SimulatedConnection, text: string): Promise<void> {
    this.owner = connection;
    this.#open = [];
    const settings = text
      .split(';')
      .slice(1)
      .join(';')
      .replaceAll(/set local synchronous_commit = off;?/gi, '')
      .trim();
    await this.session.query(`release savepoint s; savepoint s${settings === '' ? '' : `; ${settings}`}`);
  }

  async commit(): Promise<void> {
    this.owner = null;
    if (this.#open.length > 0) this.journal.push(this.#open);
  }

  async rollBack(): Promise<void> {
    this.owner = null;
    await this.session.query('rollback to savepoint s');
  }

  async execute(connection: SimulatedConnection, statement: Statement): Promise<unknown> {
    const { text, values, name } = statement;
    const query = { text, values: [...values], ...(name !== undefined && { name }) };
    const isWrite = WRITES.test(text);
    if (this.owner === connection) {
      if (isWrite) this.#open.push(statement);
      return this.session.query(query);
    }
    if (!isWrite) return this.read(() => this.session.query(query));
    await this.session.query('release savepoint s; savepoint s');
    try {
      const result = await this.session.query(query);
      this.journal.push([statement]);
      return result;
    } catch (error) {
      await this.session.query('rollback to savepoint s');
      throw error;
    }
  }

  /** Passes a query object of the product on. */
  async submit(query: pg.Submittable & { readonly done: Promise<void> }): Promise<void> {
    await this.read(async () => {
      this.session.query(query);
      await query.done;
    });
  }

  /** @throws Error that ends the history: what was done since the last savepoint would be lost */
  private async read<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw new Error(`a statement that only reads failed: ${String(error)}`, { cause: error });
    }
  }

  /** Takes an advisory lock of a session. A holder that is silent for too long loses its session. */
  lock(connection: SimulatedConnection, name: string, now: number): boolean {
    const holder = this.#locks.get(name);
    if (holder !== undefined && holder !== connection) {
      if (now - holder.heardAt <= holder.silenceMs) return false;
      holder.breakOff();
    }
    this.#locks.set(name, connection);
    return true;
  }

  unlock(connection: SimulatedConnection, name: string): boolean {
    return this.#locks.get(name) === connection && this.#locks.delete(name);
  }

  /** Forgets a connection, with its locks and its open transaction. */
  async forget(connection: SimulatedConnection): Promise<void> {
    this.connections.delete(connection);
    for (const [name, holder] of this.#locks) if (holder === connection) this.#locks.delete(name);
    if (this.owner === connection) await this.rollBack();
  }
}

/** The servers of a history, and the address by which every process connects. */
export interface Cluster {
  /** The server that the address leads to. */
  leader: SimulatedServer;
  readonly clock: SimulatedClock;
  readonly scheduler: Scheduler;
  /** @throws Error for a name that no process has */
  readonly processOf: (applicationName: string) => SimulatedProcess;
}

const LOST = { code: 'ECONNRESET' } as const;

function connectionLost(): Error {
  return Object.assign(new Error('Connection terminated unexpectedly'), LOST);
}

/** A connection of a process, in the place of `pg.Client`: what its pool and the product use of it. */
export class SimulatedConnection extends EventEmitter {
  /** Read by the pool. */
  _queryable = true;
  _ending = false;
  /** The socket has no messages of its own. */
  readonly connection = { stream: Object.assign(new EventEmitter(), { destroy: (): void => this.breakOff() }) };
  /** When the server last got a statement, by the simulated clock. */
  heardAt = 0;
  silenceMs = Number.POSITIVE_INFINITY;
  readonly processID = 1;
  readonly #process: SimulatedProcess;
  #server: SimulatedServer | null = null;

  constructor(
    private readonly cluster: Cluster,
    config: pg.ClientConfig,
  ) {
    super();
    this.#process = cluster.processOf(config.application_name ?? '');
  }

  ref(): void {}

  unref(): void {}

  isConnected(): boolean {
    return this.#server !== null && this._queryable;
  }

  connect(callback?: (error?: Error) => void): Promise<void> | undefined {
    const connecting = this.cluster.scheduler.call(
      this.#process,
      'connect',
      async () => {
        this.#server = this.cluster.leader;
        this.#server.connections.add(this);
        this.heardAt = this.cluster.clock.now;
      },
      { failure: () => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }) },
    );
    if (callback === undefined) return connecting;
    connecting.then(() => callback(), callback);
    return undefined;
  }

  end(callback?: () => void): Promise<void> | undefined {
    this._ending = true;
    this.#leave();
    process.nextTick(() => this.emit('end'));
    if (callback === undefined) return Promise.resolve();
    process.nextTick(callback);
    return undefined;
  }

  query(query: unknown, given?: unknown, callback?: Callback): unknown {
    const done = typeof given === 'function' ? callbackOf(given) : callback;
    const config = typeof query === 'object' && query !== null ? query : { text: query };
    const text = String(Reflect.get(config, 'text'));
    if (isCopy(config)) return this.#copy(config, text, done);
    const values: unknown = Array.isArray(given) ? given : Reflect.get(config, 'values');
    const name: unknown = Reflect.get(config, 'name');
    const statement = {
      text,
      values: Array.isArray(values) ? values : [],
      name: typeof name === 'string' ? name : undefined,
    };
    const answer = this.#call(text, () => this.#perform(statement));
    if (done === undefined) return answer;
    answer.then(
      (result) => done(null, result),
      (error: unknown) => done(error instanceof Error ? error : new Error(String(error))),
    );
    return undefined;
  }

  isOf(process: SimulatedProcess): boolean {
    return this.#process === process;
  }

  /** Breaks the connection, as the end of the server's session does. */
  breakOff(): void {
    if (!this._queryable) return;
    this.#leave();
    process.nextTick(() => {
      if (this.#process.isDead) return;
      if (this.listenerCount('error') > 0) this.emit('error', connectionLost());
      this.emit('end');
    });
  }

  #leave(): void {
    this._queryable = false;
    this.#server?.forget(this);
  }

  #copy(query: CopyLike, text: string, done: Callback | undefined): CopyLike {
    if (done !== undefined) query.callback = done;
    this.#call(text, async () => this.#at().submit(query)).catch((error: unknown) =>
      query.handleError(error instanceof Error ? error : new Error(String(error))),
    );
    return query;
  }

  #call<T>(text: string, work: () => Promise<T>): Promise<T> {
    const { scheduler, clock } = this.cluster;
    if (!this._queryable) return Promise.reject(connectionLost());
    const isTransaction = (): boolean => this.#server?.owner === this;
    return scheduler.call(
      this.#process,
      shortened(text),
      () => {
        if (!this._queryable) return Promise.reject(connectionLost());
        this.heardAt = clock.now;
        return work();
      },
      {
        failure: () => {
          this.breakOff();
          return connectionLost();
        },
        // A statement of a lost connection is answered at once, with an error.
        isReady: () => !this._queryable || (this.#server?.owner ?? this) === this,
        mayBeLate: () => /^commit/i.test(text) || (!isTransaction() && !/^begin/i.test(text)),
      },
    );
  }

  #at(): SimulatedServer {
    if (this.#server === null) throw new Error('the connection was not made');
    return this.#server;
  }

  async #perform(statement: Statement): Promise<unknown> {
    const { text, values } = statement;
    const server = this.#at();
    if (text.startsWith('reset role')) return text.split(';\n').map((step) => answerOf(step, text, server));
    if (/^begin/i.test(text)) return server.begin(this, text).then(() => NOTHING);
    if (/^commit/i.test(text)) return server.commit().then(() => NOTHING);
    if (/^rollback/i.test(text)) return server.rollBack().then(() => NOTHING);
    const [lock] = values;
    if (text.includes('pg_try_advisory_lock('))
      return { rows: [{ held: server.lock(this, String(lock), this.cluster.clock.now) }] };
    if (text.includes('pg_advisory_unlock(')) return { rows: [{ held: server.unlock(this, String(lock)) }] };
    const silence = /^set idle_session_timeout = (\d+)/.exec(text)?.[1];
    if (silence !== undefined) {
      this.silenceMs = silence === '0' ? Number.POSITIVE_INFINITY : Number(silence);
      return NOTHING;
    }
    if (text === 'select 1') return NOTHING;
    return server.execute(this, statement);
  }
}

/** A query object of the product (`copied-rows.ts`), which `pg` runs. */
interface CopyLike extends pg.Submittable {
  readonly done: Promise<void>;
  callback?: Callback;
  handleError(error: Error): void;
}

function isCopy(query: object): query is CopyLike {
  return typeof Reflect.get(query, 'submit') === 'function';
}

function callbackOf(given: object): Callback {
  return (error, result) => void Reflect.apply(given as never, undefined, [error, result]);
}

/** Answers a step of `prepareSession`: the session has what it asks for. */
function answerOf(step: string, all: string, server: SimulatedServer): { rows: unknown[] } {
  if (step.includes('json_build_object(')) {
    const stated = [...all.matchAll(/set_config\('(\w+)', '([^']*)', false\)/g)].map(([, name, value]) => [
      name,
      value,
    ]);
    const settings: Record<string, string> = Object.fromEntries([
      ...stated,
      ['session_replication_role', 'origin'],
      ['zero_damaged_pages', 'off'],
      ['ignore_checksum_failure', 'off'],
    ]);
    return { rows: [{ user: settings.role ?? 'consent_ledger', settings }] };
  }
  const known = /flushed >= '0\/(\w+)'::pg_lsn/.exec(step)?.[1];
  if (known === undefined) return { rows: [] };
  const flushed = `0/${server.flushed.toString(16)}`;
  const goesOn = server.flushed >= Number.parseInt(known, 16);
  return { rows: [{ server: server.identity, is_standby: false, flushed, goes_on: goesOn }] };
}

/** The beginning of a statement: the same in each run, because ids are parameters. */
function shortened(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim().slice(0, 60);
}
