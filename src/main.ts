import { constants, setPriority } from 'node:os';
import { isService, runCli } from './cli/run.js';

/** Exit code of a program that SIGPIPE ended (128 + 13). */
const EXIT_OUTPUT_CLOSED = 141;

// Node.js ignores SIGPIPE, and `consent-ledger --help | head` would end with a stack trace. A service keeps running,
// because its log is on standard error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  if (!isService(process.argv[2])) process.exit(EXIT_OUTPUT_CLOSED);
});

process.exitCode = await runCli(process.argv.slice(2), {
  env: process.env,
  stdout: process.stdout,
  stderr: process.stderr,
  lowerPriority: () => setPriority(constants.priority.PRIORITY_BELOW_NORMAL),
});
