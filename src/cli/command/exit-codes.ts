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
