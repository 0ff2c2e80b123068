import type pg from 'pg';
import {
  type BackgroundPart,
  describe,
  type PartStatus,
  runUnderLease,
  type ServiceLogger,
} from '../../platform/background/part.js';
import { BackOff, pause } from '../../platform/background/waiting.js';
import type { WitnessAddress } from '../../platform/config/index.js';
import { NO_TRACING, type Tracing } from '../../platform/telemetry/tracing.js';
import type { Fetch } from '../../timestamping/http.js';
import { cosignNewest } from './cosign-newest.js';

export interface CosignerOptions {
  /** In the role `consent_ledger_worker`. */
  readonly db: pg.Pool;
  readonly logger: ServiceLogger;
  readonly witnesses: readonly WitnessAddress[];
  /** Interval of the search for a new checkpoint, in milliseconds. */
  readonly pollMs?: number;
  /** Milliseconds for one request to a witness; the default is 20 s. */
  readonly timeoutMs?: number;
  /** The pause after the first failure of a witness, which doubles up to the longest. */
  readonly backOff?: { readonly firstMs: number; readonly longestMs: number };
  readonly fetch?: Fetch;
  readonly now?: () => Date;
  readonly tracing?: Tracing;
}

/**
 * Creates the part that submits each stamped checkpoint to the witnesses (C2SP tlog-witness) and
 * stores their cosignatures. It reads what the stamper has stored, so that a witness that does not
 * answer delays no time stamp, and no other witness.
 */
export function createCosigner(options: CosignerOptions): BackgroundPart {
  return new Cosigner(options);
}

class Cosigner implements BackgroundPart {
  readonly name = 'cosigner';
  #isLeader = false;
  #cosignatures = 0;
  /** Failures since the last success, by the witness's key name. */
  readonly #failures = new Map<string, number>();

  constructor(private readonly options: CosignerOptions) {}

  async run(signal: AbortSignal): Promise<void> {
    const { db, logger } = this.options;
    await runUnderLease({ db, name: this.name, logger, work: (leased) => this.#work(leased) }, signal);
  }

  status(): PartStatus {
    const failures = [...this.#failures.values()];
    return {
      leader: this.#isLeader,
      cosignatures: this.#cosignatures,
      witnesses_failing: failures.filter((count) => count > 0).length,
      failures_in_a_row: Math.max(0, ...failures),
    };
  }

  async #work(signal: AbortSignal): Promise<void> {
    this.#isLeader = true;
    try {
      await Promise.all(this.options.witnesses.map((witness) => this.#serve(witness, signal)));
    } finally {
      this.#isLeader = false;
    }
  }

  async #serve(witness: WitnessAddress, signal: AbortSignal): Promise<void> {
    const { logger, pollMs = 1_000, backOff: limits = { firstMs: 1_000, longestMs: 60_000 } } = this.options;
    const { name } = witness;
    const backOff = new BackOff(limits.firstMs, limits.longestMs);
    while (!signal.aborted) {
      let waitMs = pollMs;
      try {
        await this.#ask(witness, signal);
        this.#failures.set(name, 0);
        backOff.reset();
      } catch (error) {
        if (signal.aborted) break;
        this.#failures.set(name, (this.#failures.get(name) ?? 0) + 1);
        waitMs = backOff.next();
        logger.warn(
          { part: this.name, witness: name, reason: describe(error) },
          'no cosignature obtained; trying again',
        );
      }
      await pause(waitMs, signal);
    }
  }

  async #ask(witness: WitnessAddress, signal: AbortSignal): Promise<void> {
    const { db, logger, fetch = globalThis.fetch, timeoutMs = 20_000, now = () => new Date() } = this.options;
    const { tracing = NO_TRACING } = this.options;
    const traced: Fetch = (url, init) =>
      tracing.span('witness request', { 'server.address': new URL(witness.url).host }, () => fetch(url, init), {
        kind: 'client',
      });
    const sizes = await cosignNewest(db, { ...witness, fetch: traced, timeoutMs, now }, signal);
    this.#cosignatures += sizes.length;
    for (const size of sizes) {
      logger.info({ part: this.name, witness: witness.name, ledger_size: size }, 'checkpoint cosigned');
    }
  }
}
