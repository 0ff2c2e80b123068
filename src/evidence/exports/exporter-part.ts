import { type BackgroundPart, type PartStatus, repeat } from '../../platform/background/part.js';
import { LONGEST_WAIT_MS, type Looks } from '../../platform/background/waiting.js';
import { claimExport, EXPORT_WAITS, failExport, sweepExports } from './claim.js';
import { type ExportOutcome, type RunExportOptions, runExport } from './run-export.js';

export interface ExporterOptions extends RunExportOptions {
  readonly looks: Looks;
  /** Interval of the removal of ended exports, in milliseconds. */
  readonly sweepMs?: number;
}

/** Runs queued exports one after another. Several workers may run it: each export has one claim. */
export function createExporter(options: ExporterOptions): BackgroundPart {
  const { db, logger, sweepMs = 30_000 } = options;
  const look = options.looks.add(EXPORT_WAITS);
  const outcomes: Record<ExportOutcome, number> = { finished: 0, stopped: 0, failed: 0, 'given-back': 0 };
  let isWorking = false;

  /** Runs the next export. @returns false if there was none */
  const runNext = async (signal: AbortSignal): Promise<boolean> => {
    const job = await claimExport(db, options.keyring);
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

  const run = async (signal: AbortSignal): Promise<void> => {
    const work = async () => {
      if (!(await runNext(signal))) await look.wait(LONGEST_WAIT_MS, signal);
      return 0;
    };
    // The sweep runs concurrently: a long export must not delay the destruction of expired keys.
    const sweep = async () => {
      await sweepExports(db);
      return sweepMs;
    };
    await Promise.all([repeat('exports', logger, signal, work), repeat('exports', logger, signal, sweep)]);
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
