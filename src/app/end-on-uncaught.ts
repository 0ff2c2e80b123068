import type { Logger } from 'pino';

/** As of every command that failed (`EXIT.failed`). */
const EXIT_FAILED = 1;

/**
 * Ends this process on an exception that nothing caught, and on a rejection that nothing handled: its state
 * is not known any more. What started the process starts it again. The log names the place in the program,
 * but not the message, which may quote what a caller sent.
 */
export function endOnUncaught(logger: Pick<Logger, 'fatal'>): void {
  // Node reports an unhandled rejection in the same way.
  process.on('uncaughtException', (error: unknown, origin) => {
    try {
      logger.fatal({ origin, ...placeOf(error) }, 'uncaught error: the process ends');
    } finally {
      process.exit(EXIT_FAILED);
    }
  });
}

/** Returns the place of an error in the program, without its message. */
export function placeOf(error: unknown): Readonly<Record<string, unknown>> {
  if (!(error instanceof Error)) return { type: typeof error };
  const { name, message, stack = '' } = error;
  const frames = stack.slice(Math.max(0, stack.indexOf(message)) + message.length).split('\n');
  return {
    type: name,
    ...('code' in error && typeof error.code === 'string' && { code: error.code }),
    stack: frames.filter((line) => /^\s+at /.test(line)).join('\n'),
  };
}
