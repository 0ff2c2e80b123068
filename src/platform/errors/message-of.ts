/** The message of something thrown, without its name. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
