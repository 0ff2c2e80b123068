import type pg from 'pg';
import {
  type BackgroundPart,
  describe,
  type PartStatus,
  runUnderLease,
  type ServiceLogger,
} from '../platform/background/part.js';
import { BackOff, LONGEST_WAIT_MS, type Look, type Looks, pause } from '../platform/background/waiting.js';
import type { Keyring } from '../platform/keys/index.js';
import { announceDueErasures } from './announce-erasures.js';
import { type ApplyErasuresOptions, applyErasures } from './apply-erasures.js';
import { resumeErasures } from './erase-subject.js';
import { ERASURE_WAITS, type ErasureRequest } from './requests.js';

export interface ErasureRunnerOptions extends ApplyErasuresOptions {
  /** A pool, because the lease holds a separate connection. */
  readonly db: pg.Pool;
  readonly logger: ServiceLogger;
  readonly keyring: Pick<Keyring, 'siteKey' | 'openKeyRows' | 'open'>;
  /** Length of the intervals, in milliseconds. Erasures are announced at the end of each. */
  readonly announceIntervalMs: number;
  readonly looks: Looks;
  /**
   * Interval at which log and journal are applied to the key table, in milliseconds. It keeps the
   * next start short.
   */
  readonly applyEveryMs?: number;
}

/**
 * Creates the part that carries out requested and interrupted erasures. Several processes may run it; a lease lets one
 * of them work.
 */
export function createErasureRunner(options: ErasureRunnerOptions): BackgroundPart {
  return new ErasureRunner(options);
}

class ErasureRunner implements BackgroundPart {
  readonly name = 'erasure';
  #finished = 0;
  #erasedRecords = 0;
  #broughtBack = 0;
  #announced = 0;
  readonly #look: Look;

  constructor(private readonly options: ErasureRunnerOptions) {
    this.#look = options.looks.add(ERASURE_WAITS);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { db, logger } = this.options;
    await runUnderLease({ db, name: this.name, logger, work: (leased) => this.#work(leased) }, signal);
  }

  status(): PartStatus {
    return {
      finished_erasures: this.#finished,
      erased_records: this.#erasedRecords,
      erasures_applied_again: this.#broughtBack,
      announced_records: this.#announced,
    };
  }

  async #work(signal: AbortSignal): Promise<void> {
    const { logger, announceIntervalMs, applyEveryMs = 600_000 } = this.options;
    const backOff = new BackOff();
    let appliedAt = Number.NEGATIVE_INFINITY;
    while (!signal.aborted) {
      if (performance.now() - appliedAt >= applyEveryMs) {
        const { fromLog, fromJournal, skippedLines } = await applyErasures(this.options);
        appliedAt = performance.now();
        this.#broughtBack += fromLog + fromJournal;
        if (fromLog + fromJournal + skippedLines > 0) {
          logger.warn(
            { part: this.name, from_log: fromLog, from_journal: fromJournal, skipped_lines: skippedLines },
            'erasures applied again',
          );
        }
      }
      let hasFailed = false;
      // A failing request of one site, for example because its key cannot be read, must not hold up those of others.
      const onFailed = ({ id, siteId }: ErasureRequest, error: unknown): void => {
        hasFailed = true;
        const facts = { part: this.name, request: id, site: siteId, reason: describe(error) };
        logger.warn(facts, 'an erasure failed; trying again');
      };
      for (const receipt of await resumeErasures(this.options, { signal, onFailed })) {
        this.#finished += 1;
        this.#erasedRecords += receipt.erasedRecords;
        logger.info({ part: this.name, request: receipt.id, records: receipt.erasedRecords }, 'erased');
      }
      // This comes after the log was applied, so that nothing is announced twice.
      this.#announced += (await announceDueErasures(this.options, announceIntervalMs)) ?? 0;
      if (!hasFailed) backOff.reset();
      if (hasFailed) await pause(backOff.next(), signal);
      else
        await this.#look.wait(
          Math.min(LONGEST_WAIT_MS, announceIntervalMs - (Date.now() % announceIntervalMs)),
          signal,
        );
    }
  }
}
