import pg from 'pg';
import { BackOff, pause } from '../../../platform/background/waiting.js';

/** Channel on which `event_log.append` says that there is something new. */
const EVENT_LOG_CHANNEL = 'consent_ledger_event_log';

/**
 * Wakes subscribers when something was appended: one connection that LISTENs, for as long as anyone subscribes, made anew when it is lost.
 * A notification only says "look": what is read never depends on it, and who waits has a fallback poll.
 */
export class Wakeups {
  #appends = 0;
  readonly #sleepers = new Set<() => void>();
  #subscribers = 0;
  #stop: AbortController | null = null;
  #running: Promise<void> = Promise.resolve();

  constructor(
    private readonly connection: pg.ClientConfig,
    private readonly onInterruption: (error: unknown) => void,
  ) {}

  /** Grows with each notification: take it before reading, and give it to `wait` after. */
  get ticket(): number {
    return this.#appends;
  }

  /** Resolves when there was a notification after `ticket` was taken, after `ms`, or when `signal` is aborted. */
  async wait(ticket: number, ms: number, signal: AbortSignal): Promise<void> {
    if (this.#appends !== ticket) return;
    const woken = new AbortController();
    const wake = (): void => woken.abort();
    this.#sleepers.add(wake);
    await pause(ms, woken.signal, signal);
    this.#sleepers.delete(wake);
  }

  /** Counts a subscriber in; the first one opens the connection. */
  join(): void {
    this.#subscribers += 1;
    if (this.#subscribers > 1) return;
    const stop = new AbortController();
    this.#stop = stop;
    this.#running = this.#running.then(() => this.#listen(stop.signal));
  }

  /** Counts a subscriber out; the last one closes the connection. */
  leave(): void {
    this.#subscribers -= 1;
    if (this.#subscribers === 0) this.#stop?.abort();
  }

  /** Resolves when the connection is closed, once every subscriber has left. */
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
        this.onInterruption(error);
      }
      if (!signal.aborted) await pause(backOff.next(), signal);
    }
  }

  /** Listens until the connection is lost (throws why) or `signal` is aborted. */
  async #listenOnce(signal: AbortSignal, onListening: () => void): Promise<void> {
    const client = new pg.Client({ connectionTimeoutMillis: 5_000, keepAlive: true, ...this.connection });
    const lost = new Promise<never>((_, reject) => {
      client.on('error', reject);
      client.on('end', () => reject(new Error('the listening connection ended')));
    });
    let onStop = (): void => undefined;
    const stopped = new Promise<void>((resolve) => {
      onStop = resolve;
    });
    signal.addEventListener('abort', onStop, { once: true });
    client.on('notification', () => this.#wake());
    try {
      await Promise.race([client.connect(), lost, stopped]);
      await Promise.race([client.query(`LISTEN ${EVENT_LOG_CHANNEL}`), lost, stopped]);
      onListening();
      this.#wake();
      await Promise.race([lost, stopped]);
    } finally {
      signal.removeEventListener('abort', onStop);
      lost.catch(() => undefined);
      await client.end().catch(() => undefined);
    }
  }
}
