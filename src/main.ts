import { constants, setPriority } from 'node:os';
import { runCli } from './cli/run.js';

process.exitCode = await runCli(process.argv.slice(2), {
  env: process.env,
  stdout: process.stdout,
  stderr: process.stderr,
  lowerPriority: () => setPriority(constants.priority.PRIORITY_BELOW_NORMAL),
});
