import { EXIT_USAGE } from './exit-codes.js';

/** Input of the command that cannot be used. Its message is readable text. */
export class UsageError extends Error {
  override readonly name = 'UsageError';

  /** @param exitCode exit code of the command */
  constructor(
    message: string,
    readonly exitCode: number = EXIT_USAGE,
  ) {
    super(message);
  }
}
