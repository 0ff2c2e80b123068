/** How a command ends. Stated in every `--help`. */
export const EXIT = {
  ok: 0,
  /** It could not be done; the message on standard error says why. */
  failed: 1,
  /** The command line is wrong. */
  usage: 2,
} as const;

export const EXIT_CODES_HELP = `
Exit codes: ${EXIT.ok}: done; ${EXIT.failed}: failed, see the message on standard error; ${EXIT.usage}: usage error.
docs/configuration.md describes every environment variable.`;

/** A command that cannot be carried out, said in words for whoever typed it. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  constructor(
    message: string,
    readonly exitCode: number = EXIT.failed,
  ) {
    super(message);
  }
}
