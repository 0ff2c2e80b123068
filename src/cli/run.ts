import { CommanderError } from 'commander';
import type { CliContext } from './command/context.js';
import { CommandError, EXIT } from './command/exit-codes.js';
import { createProgram } from './program.js';

/**
 * Runs one command line. A failure writes one message to standard error.
 * @param args without node and the program's name
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
    context.stderr.write(`${messageOf(error)}\n`);
    return error instanceof CommandError ? error.exitCode : EXIT.failed;
  }
}

function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join('; ');
  if (error instanceof Error) return error.message === '' ? error.name : error.message;
  return String(error);
}
