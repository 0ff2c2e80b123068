import type { BackgroundPart, PartStatus } from '../../platform/background/part.js';
import { describe } from '../../platform/background/run-under-lease.js';
import { BackOff, pause } from '../../platform/background/waiting.js';
import { claimExport } from './claim.js';
import { type ExportOutcome, type RunExportOptions, runExport } from './run-export.js';
import { sweepExports } from './sweep.js';

export interface ExporterOptions extends RunExportOptions {
  /** How often new exports are looked for, in milliseconds. */
  readonly pollMs?: number;
  /** How often what is over is removed, in milliseconds. */
  readonly sweepMs?: number;
}

/** Runs the exports that were asked for, one after the other. Any number of workers may: each claims exports of its own. */
export function createExporter(options: ExporterOptions): BackgroundPart {
  const { db, logger, pollMs = 1_000, sweepMs = 30_000 } = options;
  const outcomes: Record<ExportOutcome, number> = { finished: 0, stopped: 0, failed: 0, 'given-back': 0 };
  let isWorking = false;

  /** @returns whether there was an export to run */
  const runNext = async (signal: AbortSignal): Promise<boolean> => {
    const job = await claimExport(db);
    if (job === null) return false;
    isWorking = true;
    try {
      outcomes[await runExport(options, job, signal)] += 1;
    } finally {
      isWorking = false;
    }
    return true;
  };

  /** Repeats a step until `signal` is aborted, with a pause where the step asks for one; a failure is tried again. */
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
    // Beside it: a long export must not keep keys alive whose time has come.
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
