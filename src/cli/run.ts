import { CommanderError } from 'commander';
import { CommandError, EXIT } from './command/command.js';
import type { CliContext } from './command/context.js';
import { createProgram } from './program.js';

/**
 * Runs one command line. A failure writes one message to standard error.
 * @param args the arguments, without node and the program's name
 * @returns the exit code
 */
export async function runCli(args: readonly string[], context: CliContext): Promise<number> {
  try {
    const program = await createProgram(context, args);
    await program.parseAsync([...args], { from: 'user' });
    return EXIT.ok;
  } catch (error) {
    // Commander has already written its message.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    await writeFailure(args, context, messageOf(error));
    return error instanceof CommandError ? error.exitCode : EXIT.failed;
  }
}

/** Programs that write their log to standard error. */
const LOGGING: readonly string[] = ['serve', 'api', 'worker', 'migrate'];

/** Returns whether a command line starts a program that runs until it is stopped. @param command its first word */
export function isService(command: string | undefined): boolean {
  return command !== undefined && LOGGING.includes(command);
}

/**
 * Writes a failure; services write it as a JSON log line. Log collectors expect JSON and would lose the line that says
 * why the process ended.
 */
async function writeFailure(args: readonly string[], context: CliContext, message: string): Promise<void> {
  if (!isService(args[0]) || !args.includes('--json')) {
    context.stderr.write(`${message}\n`);
    return;
  }
  // These programs have already loaded the logger; other commands do not need it.
  const { createLogger } = await import('../platform/telemetry/logger.js');
  createLogger({ logLevel: 'fatal', logFormat: 'json' }, context.stderr).fatal(message);
}

function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join('; ');
  if (error instanceof Error) return error.message === '' ? error.name : error.message;
  return String(error);
}
