/** Input of the command that cannot be used. Its message is for people. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
