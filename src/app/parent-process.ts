import type { FromApi, FromFirstApi } from './api-messages.js';
import type { FromWorker } from './worker-messages.js';

/** Sends a message to the process that started this one. Resolves also if that is gone, which ends this process. */
export function tellParent(message: FromWorker | FromApi | FromFirstApi): Promise<void> {
  return new Promise((resolve) => {
    process.send?.(message, () => resolve());
  });
}

/**
 * Tells the process that started this one why this one ends.
 * @param needsOperator whether it fails again until an operator acts, so that it is not replaced
 */
export function tellFailure(error: unknown, needsOperator: boolean): Promise<void> {
  const message = error instanceof Error && error.message !== '' ? error.message : String(error);
  return tellParent({ kind: 'failed', message, needsOperator });
}

/** Leaves the signals of a group to the process that started this one, and ends with it. */
export function followParent(): void {
  // Ctrl-C and service managers signal every process of a group. The parent stops this process itself,
  // after it has answered its last request.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => undefined);
  // The parent was killed. Every part survives a kill at any point, consents that are not answered yet may be
  // repeated, and no process may be left over.
  process.on('disconnect', () => process.exit(1));
}
