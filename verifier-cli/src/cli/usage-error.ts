/** Something that the caller of the command gave and that cannot be used. Its message is for people. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
