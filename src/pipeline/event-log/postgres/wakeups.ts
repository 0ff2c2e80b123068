import pg from 'pg';
import { BackOff, pause } from '../../../platform/background/waiting.js';
import {
  type ConnectionOptions,
  closeAfterLastMessage,
  connectionConfig,
  prepareConnection,
} from '../../../platform/database/connection.js';
import { deferred } from '../../../platform/deferred.js';

/** Channel on which `event_log.append` notifies of new events. */
const EVENT_LOG_CHANNEL = 'consent_ledger_event_log';

/**
 * Wakes subscribers after an append. One connection LISTENs while there are subscribers; it is
 * reopened when it is lost. A notification is only a hint: subscribers also poll, and no read
 * depends on it.
 */
export class Wakeups {
  #appends = 0;
  readonly #sleepers = new Set<() => void>();
  #subscribers = 0;
  #stop: AbortController | null = null;
  #running: Promise<void> = Promise.resolve();
  /** Index of the host that the connection uses, if there are several. */
  #turn = 0;

  constructor(
    private readonly connection: ConnectionOptions,
    private readonly onInterruption: (error: unknown) => void,
  ) {}

  /**
   * Counter of notifications. A subscriber reads it before it reads the log, and then passes it to
   * `wait`.
   */
  get ticket(): number {
    return this.#appends;
  }

  /**
   * Resolves after a notification that is newer than `ticket`, after `ms` milliseconds, or when
   * `signal` is aborted.
   */
  async wait(ticket: number, ms: number, signal: AbortSignal): Promise<void> {
    if (this.#appends !== ticket) return;
    const woken = new AbortController();
    const wake = (): void => woken.abort();
    this.#sleepers.add(wake);
    await pause(ms, woken.signal, signal);
    this.#sleepers.delete(wake);
  }

  /** Registers a subscriber; the first one opens the connection. */
  join(): void {
    this.#subscribers += 1;
    if (this.#subscribers > 1) return;
    const stop = new AbortController();
    this.#stop = stop;
    this.#running = this.#running.then(() => this.#listen(stop.signal));
  }

  /** Removes a subscriber; the last one closes the connection. */
  leave(): void {
    this.#subscribers -= 1;
    if (this.#subscribers === 0) this.#stop?.abort();
  }

  /** Resolves when every subscriber has left and the connection is closed. */
  async close(): Promise<void> {
    this.#stop?.abort();
    await this.#running;
  }

  #wake(): void {
    this.#appends += 1;
    for (const wake of this.#sleepers) wake();
  }

  async #listen(signal: AbortSignal): Promise<void> {
    const backOff = new BackOff();
    while (!signal.aborted) {
      try {
        await this.#listenOnce(signal, () => backOff.reset());
      } catch (error) {
        this.#turn += 1;
        this.onInterruption(error);
      }
      if (!signal.aborted) await pause(backOff.next(), signal);
    }
  }

  async #begin(client: pg.Client): Promise<void> {
    await client.connect();
    closeAfterLastMessage(client);
    await prepareConnection(client, this.connection);
    await client.query(`LISTEN ${EVENT_LOG_CHANNEL}`);
  }

  /**
   * Listens until `signal` is aborted.
   * @throws the error that closed the connection
   */
  async #listenOnce(signal: AbortSignal, onListening: () => void): Promise<void> {
    const client = new pg.Client(connectionConfig(this.connection, this.#turn));
    const lost = new Promise<never>((_, reject) => {
      client.on('error', reject);
      client.on('end', () => reject(new Error('the listening connection ended')));
    });
    const stop = deferred();
    const onStop = (): void => stop.resolve();
    signal.addEventListener('abort', onStop, { once: true });
    client.on('notification', () => this.#wake());
    try {
      await Promise.race([this.#begin(client), lost, stop.promise]);
      if (signal.aborted) return;
      onListening();
      this.#wake();
      await Promise.race([lost, stop.promise]);
    } finally {
      signal.removeEventListener('abort', onStop);
      lost.catch(() => undefined);
      await client.end().catch(() => undefined);
    }
  }
}
