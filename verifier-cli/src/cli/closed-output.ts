/** Exit code of a program that SIGPIPE ended (128 + 13), which is not a verdict. */
const EXIT_OUTPUT_CLOSED = 141;

/**
 * Ends the program quietly when the reader of its output closes it, as `head` does. Node.js ignores SIGPIPE, and would
 * end with a stack trace and the exit code of an invalid package.
 */
export function endWhenOutputCloses(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(EXIT_OUTPUT_CLOSED);
  });
}
