/**
 * Resolves at the first SIGTERM or SIGINT. A second one ends the process immediately, by Node's
 * default.
 */
export function signalled(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve());
  });
}
