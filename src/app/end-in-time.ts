import type { Logger } from 'pino';

export interface EndInTimeOptions {
  readonly ms: number;
  readonly logger: Pick<Logger, 'error'>;
  /** Ends the process at once. */
  readonly exit: (exitCode: number) => void;
}

/** Below the 30 s that containers get for the steps in progress (docs/operations.md, “Deploy”). */
export const LONGEST_STOP_MS = 25_000;

/**
 * Ends the process after `ms` milliseconds, whatever its stop waits for then: a database, a log
 * or an authority that does not answer. Every answered request is durable, and every step
 * survives a kill. Later the orchestrator would kill the process, and no log line would state the
 * reason.
 */
export function endInTime({ ms, logger, exit }: EndInTimeOptions): void {
  const end = (): void => {
    logger.error(
      { after_ms: ms },
      'the process did not stop in time, and is ended now; nothing that was acknowledged is lost',
    );
    exit(1);
  };
  setTimeout(end, ms).unref();
}
