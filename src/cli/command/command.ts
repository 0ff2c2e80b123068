import { Command, InvalidArgumentError } from 'commander';
import type { Page, PageRequest } from '../../api/panel/page.js';

/** Exit codes of the commands. Every `--help` states them. */
export const EXIT = {
  ok: 0,
  /** The command failed; the message on standard error states the reason. */
  failed: 1,
  /** The command line is invalid. */
  usage: 2,
} as const;

export const EXIT_CODES_HELP = `
Exit codes: ${EXIT.ok}: done; ${EXIT.failed}: failed, see the message on standard error; ${EXIT.usage}: usage error.
docs/configuration.md describes every environment variable.`;

/** A command failed. The message is written for the operator. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  constructor(
    message: string,
    readonly exitCode: number = EXIT.failed,
  ) {
    super(message);
  }
}

/** Creates a command with the option `--json`, and with the exit codes in its help. */
export function jsonCommand(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .option('--json', 'print only one JSON object on standard output')
    .addHelpText('after', EXIT_CODES_HELP);
}

/**
 * Creates the parser of an option with a whole number.
 * @param least smallest valid number
 * @throws InvalidArgumentError (the parser)
 */
export function wholeNumber(least: number) {
  return (text: string): number => {
    const value = Number(text);
    if (!/^\d{1,15}$/.test(text) || value < least) {
      throw new InvalidArgumentError(`It must be a whole number of at least ${least}.`);
    }
    return value;
  };
}

/**
 * Parses a UUID.
 * @returns the UUID in lower case
 * @throws InvalidArgumentError
 */
export function uuid(text: string): string {
  const lower = text.toLowerCase();
  if (!/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(lower))
    throw new InvalidArgumentError('It must be a UUID.');
  return lower;
}

/** Collects the values of a repeatable option. */
export function several(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}

const PAGE = 100;

/** Reads all pages of a list. */
export async function allPages<T>(read: (page: PageRequest) => Promise<Page<T>>): Promise<readonly T[]> {
  const all: T[] = [];
  let cursor: string | null = null;
  do {
    const page: Page<T> = await read({ limit: PAGE, ...(cursor !== null && { cursor }) });
    all.push(...page.data);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return all;
}

/**
 * Resolves at the first SIGTERM or SIGINT. A second one ends the process immediately, by Node's
 * default.
 */
export function signalled(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve());
  });
}
