import * as z from 'zod';
import type { Lease } from '../../platform/background/part.js';

/** Channel of the trigger `event_log.wake_relay`. */
const CHANNEL = 'consent_ledger_waiting';
/** The lock that the trigger tries to share. */
const LOCK = 'consent-ledger relay sleeps';

const HeldRows = z.tuple([z.object({ held: z.boolean() })]);

/**
 * Rings when events begin to wait, while it is set. Transactions that write such events look whether
 * the bell is set: nobody rings, and no commit pays for it, while the relay is awake. The bell
 * ends with the lease.
 */
export class Bell {
  #isSet = false;

  private constructor(private readonly lease: Lease) {}

  /** Opens a bell on the connection of a lease. It is not set. */
  static async open(lease: Lease, onRing: () => void): Promise<Bell> {
    lease.onNotification(onRing);
    await lease.query(`LISTEN ${CHANNEL}`);
    return new Bell(lease);
  }

  get isSet(): boolean {
    return this.#isSet;
  }

  /**
   * Sets the bell. What was written before is committed then, so that one look finds it; what is
   * written later rings.
   * @returns false if events are being written
   */
  async set(): Promise<boolean> {
    const rows = await this.lease.query('select pg_try_advisory_lock(hashtextextended($1, 0)) as held', [LOCK]);
    this.#isSet = HeldRows.parse(rows)[0].held;
    return this.#isSet;
  }

  async unset(): Promise<void> {
    if (!this.#isSet) return;
    this.#isSet = false;
    await this.lease.query('select pg_advisory_unlock(hashtextextended($1, 0)) as held', [LOCK]);
  }
}
