import type { BackgroundPart, PartStatus } from '../../platform/background/part.js';
import { describe } from '../../platform/background/run-under-lease.js';
import { BackOff, pause } from '../../platform/background/waiting.js';
import { claimExport, failExport } from './claim.js';
import { type ExportOutcome, type RunExportOptions, runExport } from './run-export.js';
import { sweepExports } from './sweep.js';

export interface ExporterOptions extends RunExportOptions {
  /** Interval of the look-up for new exports, in milliseconds. */
  readonly pollMs?: number;
  /** Interval of the removal of ended exports, in milliseconds. */
  readonly sweepMs?: number;
}

/** Runs queued exports one after another. Several workers may run it: each export has one claim. */
export function createExporter(options: ExporterOptions): BackgroundPart {
  const { db, logger, pollMs = 1_000, sweepMs = 30_000 } = options;
  const outcomes: Record<ExportOutcome, number> = { finished: 0, stopped: 0, failed: 0, 'given-back': 0 };
  let isWorking = false;

  /** Runs the next export. @returns false if there was none */
  const runNext = async (signal: AbortSignal): Promise<boolean> => {
    const job = await claimExport(db);
    if (job === null) return false;
    if ('columns' in job) {
      await failExport(db, job, 'error');
      logger.error(
        { part: 'exports', export: job.id, columns: job.columns },
        'an evidence export failed: its row cannot be read',
      );
      outcomes.failed += 1;
      return true;
    }
    isWorking = true;
    try {
      outcomes[await runExport(options, job, signal)] += 1;
    } finally {
      isWorking = false;
    }
    return true;
  };

  /**
   * Repeats a step until `signal` is aborted, with the pause that the step returns. A failed step
   * is repeated after a back-off.
   */
  const repeat = async (step: () => Promise<{ readonly pauseMs: number }>, signal: AbortSignal): Promise<void> => {
    const backOff = new BackOff();
    while (!signal.aborted) {
      try {
        const { pauseMs } = await step();
        backOff.reset();
        if (pauseMs > 0) await pause(pauseMs, signal);
      } catch (error) {
        logger.warn({ part: 'exports', reason: describe(error) }, 'failed; trying again');
        await pause(backOff.next(), signal);
      }
    }
  };

  const run = async (signal: AbortSignal): Promise<void> => {
    const work = async () => ({ pauseMs: (await runNext(signal)) ? 0 : pollMs });
    // The sweep runs concurrently: a long export must not delay the destruction of expired keys.
    const sweep = async () => {
      await sweepExports(db);
      return { pauseMs: sweepMs };
    };
    await Promise.all([repeat(work, signal), repeat(sweep, signal)]);
  };
  const status = (): PartStatus => ({
    is_working: isWorking,
    finished: outcomes.finished,
    stopped: outcomes.stopped,
    failed: outcomes.failed,
    given_back: outcomes['given-back'],
  });
  return { name: 'exports', run, status };
}
